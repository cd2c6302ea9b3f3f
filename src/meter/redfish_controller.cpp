#include "meter/redfish_controller.h"

#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/counter.h"
#include "meter/redfish_answer.h"

namespace parajoule::meter {

using base::Seconds;
using base::Watts;

namespace {

constexpr Seconds patience{5};  // for one answer

base::Error failed(const std::string& why) { return {base::Fault::environment, why}; }

}  // namespace

std::string RedfishController::get(const std::string& path, const Stopped& stopped) {
  if (!refused_.empty()) throw failed(refused_);
  const auto answer = http_->get(address_ + path, patience, stopped);
  if (const auto* why = std::get_if<std::string>(&answer)) throw failed(*why);
  const auto& [status, body] = std::get<HttpAnswer>(answer);
  if (status == 401 || status == 403) {
    refused_ = fmt::format("user or password refused (HTTP {})", status);
    throw failed(refused_);
  }
  if (status != 200) throw failed(fmt::format("{} answers HTTP {}", path, status));
  return body;
}

Poll::Ask redfish_numbers(std::shared_ptr<RedfishController> controller, std::string path,
                          int parts) {
  Counter counter({.range = {}, .most = Watts{100'000}, .slack = Seconds(60)});
  const auto begin = std::chrono::steady_clock::now();
  return [controller = std::move(controller), path = std::move(path), parts, counter,
          begin](const Stopped& stopped) mutable -> std::vector<Reading> {
    const Gap none{Gap::Cause::failed, "the answer has no number"};
    std::vector<Reading> readings(2, none);
    std::string body;
    try {
      body = controller->get(path, stopped);
    } catch (const base::Error& error) {
      return std::vector<Reading>(2, Gap{Gap::Cause::failed, error.what()});
    }
    if (const auto power = redfish_power(body)) readings[0] = power->value / parts;
    if (const auto energy = redfish_energy(body)) {
      readings[1] = counter.update(*energy, std::chrono::steady_clock::now() - begin);
      if (double* value = std::get_if<double>(&readings[1])) *value /= parts;
    }
    return readings;
  };
}

std::string wrong_address(std::string_view address) {
  if (address.starts_with("https://")) return {};
  constexpr std::string_view open = "http://";
  if (!address.starts_with(open)) return "does not begin with https://";
  const std::string_view rest = address.substr(open.size());
  for (std::string_view own : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!rest.starts_with(own)) continue;
    const std::string_view behind = rest.substr(own.size());
    if (behind.empty() || behind.starts_with(':') || behind.starts_with('/')) return {};
  }
  return "passwords would travel in the open; use https://";
}

}  // namespace parajoule::meter
