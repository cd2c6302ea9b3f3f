#include "meter/redfish.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/counter.h"
#include "meter/credentials.h"
#include "meter/http.h"
#include "meter/poll.h"
#include "meter/redfish_answer.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

constexpr Seconds every{1};      // schemas do not say how often a number is renewed
constexpr Seconds patience{5};   // for one answer
constexpr Seconds at_start{15};  // for all answers that are needed to find the chassis

/// 95 % bound. The schemas state none and boards differ: assumed.
constexpr double bias = 0.1;

/// EnergykWh is given in thousandths by the examples of the schema; boards may round more.
constexpr double energy_step = 3600;

/// What of one chassis can be asked for.
struct Chassis {
  std::string address;  ///< of what holds the numbers
  std::string name;     ///< the last word of its own address
  bool power;
  bool energy;
};

/// Asks one server, and remembers that it was refused: asking on would lock the user out.
class Controller {
 public:
  Controller(std::unique_ptr<Http> http, std::string address)
      : http_(std::move(http)), address_(std::move(address)) {}

  /// The body; throws Error{environment} with the reason if there is none.
  std::string get(const std::string& path, const Stopped& stopped) {
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

 private:
  static base::Error failed(const std::string& why) { return {base::Fault::environment, why}; }

  std::unique_ptr<Http> http_;
  std::string address_;
  std::string refused_;
};

/// `1` of `/redfish/v1/Chassis/1/`.
std::string last_word(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

/// Where a chassis tells its power; the newer of the two schemas before the older.
std::optional<Chassis> chassis_at(Controller& controller, const std::string& path,
                                  const Stopped& stopped) {
  const std::string body = controller.get(path, stopped);
  for (const char* link : {"EnvironmentMetrics", "Power"}) {
    const auto address = redfish_link(body, link);
    if (!address) continue;
    const std::string numbers = controller.get(*address, stopped);
    Chassis chassis{.address = *address,
                    .name = last_word(path),
                    .power = redfish_power(numbers).has_value(),
                    .energy = redfish_energy(numbers).has_value()};
    if (chassis.power || chassis.energy) return chassis;
  }
  return {};
}

std::vector<Chassis> find_chassis(Controller& controller) {
  const auto begin = std::chrono::steady_clock::now();
  const Stopped late = [begin] { return std::chrono::steady_clock::now() - begin > at_start; };
  std::vector<Chassis> found;
  for (const std::string& path : redfish_members(controller.get("/redfish/v1/Chassis", late)))
    if (auto chassis = chassis_at(controller, path, late)) found.push_back(std::move(*chassis));
  return found;
}

Description described(const Options::Redfish& server, const Chassis& chassis, Quantity quantity,
                      bool alone) {
  const bool counts = quantity == Quantity::energy;
  return {.device = alone ? "node" : "node " + chassis.name,
          .device_kind = "node",
          .quantity = quantity,
          .unit = counts ? "joules" : "watts",
          .label = Label::measured,
          .covers = fmt::format("chassis {}, Redfish ({}{}); {}", chassis.name, server.address,
                                chassis.address, untried),
          .resolution = counts ? energy_step : 1,
          .update_period = every,
          .bias_relative = bias};
}

/// Asks for power and energy of one chassis, in this order.
Poll::Ask asker(std::shared_ptr<Controller> controller, const Chassis& chassis) {
  Counter counter({.range = {}, .most = Watts{100'000}, .slack = Seconds(60)});
  const auto begin = std::chrono::steady_clock::now();
  return [controller = std::move(controller), chassis, counter,
          begin](const Stopped& stopped) mutable -> std::vector<Reading> {
    const Gap none{Gap::Cause::failed, "the answer has no number"};
    std::vector<Reading> readings(2, none);
    std::string body;
    try {
      body = controller->get(chassis.address, stopped);
    } catch (const base::Error& error) {
      return std::vector<Reading>(2, Gap{Gap::Cause::failed, error.what()});
    }
    if (const auto power = redfish_power(body)) readings[0] = power->value;
    if (const auto energy = redfish_energy(body))
      readings[1] = counter.update(*energy, std::chrono::steady_clock::now() - begin);
    return readings;
  };
}

void add_sources(const Options::Redfish& server, const std::shared_ptr<Controller>& controller,
                 const std::vector<Chassis>& found, Opened& opened) {
  for (const Chassis& chassis : found) {
    const bool alone = found.size() == 1;
    const auto poll = std::make_shared<Poll>(asker(controller, chassis), every);
    if (chassis.power)
      opened.sources.push_back(polled(described(server, chassis, Quantity::power, alone), poll, 0));
    if (chassis.energy)
      opened.sources.push_back(
          polled(described(server, chassis, Quantity::energy, alone), poll, 1));
  }
}

}  // namespace

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

Opened open_redfish(const Options& options) {
  Opened opened;
  if (!options.redfish) return opened;
  const Options::Redfish& server = *options.redfish;
  const auto missing = [&](std::string reason, std::string remedy) {
    opened.unavailable.push_back({.what = fmt::format("whole node, Redfish ({})", server.address),
                                  .reason = std::move(reason),
                                  .remedy = std::move(remedy)});
    return std::move(opened);
  };
  if (const std::string wrong = wrong_address(server.address); !wrong.empty())
    return missing(wrong, "give the address as https://HOST");
  try {
    auto http = Http::open(server.curl, read_credentials(server.credentials));
    if (const auto* why = std::get_if<std::string>(&http))
      return missing(*why, "install libcurl (Debian: libcurl4)");
    const auto controller = std::make_shared<Controller>(
        std::move(std::get<std::unique_ptr<Http>>(http)), server.address);
    const auto found = find_chassis(*controller);
    if (found.empty())
      return missing("no chassis tells its power", "none known: the controller must offer it");
    add_sources(server, controller, found, opened);
  } catch (const base::Error& error) {
    const bool file = error.fault == base::Fault::input;
    return missing(error.what(), file ? "a file of mode 0600 with lines 'user = ...', 'password = "
                                        "...' and, of an own authority, 'certificate = FILE'"
                                      : "check address, credentials and certificate");
  }
  return opened;
}

}  // namespace parajoule::meter
