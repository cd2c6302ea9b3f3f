#include "meter/outlet.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/counter.h"
#include "meter/http.h"
#include "meter/poll.h"
#include "meter/redfish_answer.h"
#include "meter/redfish_controller.h"
#include "meter/snmp.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

constexpr Seconds every{1};     // units do not say how often a number is renewed
constexpr Seconds at_start{5};  // for the first answer
constexpr Watts most{100'000};

/// 95 % bounds: units that meter state 1 % and no more than 5 %; of what is divided equally the
/// share is anybody's guess. Both assumed.
constexpr double usual_bias = 0.05;
constexpr double bias_of_a_share = 0.3;

bool by_redfish(const Options::Outlet& outlet) {
  return outlet.address.find("://") != std::string::npos;
}

std::string titled(const Options::Outlet& outlet, std::string_view way, std::string_view place) {
  return fmt::format("outlet {}, {} ({})", outlet.name, way, place);
}

Description described(const Options::Outlet& outlet, Quantity quantity, std::string title,
                      double unit) {
  const bool counts = quantity == Quantity::energy;
  Description description{.device = fmt::format("outlet {}", outlet.name),
                          .device_kind = "outlet",
                          .quantity = quantity,
                          .unit = counts ? "joules" : "watts",
                          .label = Label::measured,
                          .covers = std::move(title),
                          .resolution = unit / outlet.feeds,
                          .update_period = every,
                          .bias_relative = outlet.accuracy.value_or(usual_bias)};
  if (outlet.feeds > 1) {
    description.label = Label::modelled;
    description.covers += fmt::format("; a part of {} of it", outlet.feeds);
    description.formula =
        fmt::format("what the outlet gives, divided by {}: it feeds as many nodes, in equal parts",
                    outlet.feeds);
    description.bias_relative = std::hypot(*description.bias_relative, bias_of_a_share);
  }
  description.covers += fmt::format("; {}", untried);
  return description;
}

void say(Opened& opened, std::string what, std::string reason, std::string remedy,
         Unavailable::State state = Unavailable::State::unreadable) {
  opened.unavailable.push_back({.what = std::move(what),
                                .reason = std::move(reason),
                                .remedy = std::move(remedy),
                                .state = state});
}

// SNMP ------------------------------------------------------------------------------------------

/// One number of an outlet.
struct Object {
  std::vector<unsigned long> name;
  Quantity quantity;
  double unit;
};

std::vector<Object> objects_of(const Options::Outlet& outlet) {
  std::vector<Object> objects;
  const auto add = [&](const std::string& dotted, Quantity quantity, double unit) {
    if (dotted.empty()) return;
    objects.push_back({snmp_object(dotted), quantity, unit});
    if (objects.back().name.empty())
      throw base::Error(base::Fault::input,
                        fmt::format("'{}' is no object: give its numbers, 1.3.6.1...", dotted));
  };
  add(outlet.power, Quantity::power, outlet.power_unit);
  add(outlet.energy, Quantity::energy, outlet.energy_unit);
  if (objects.empty())
    throw base::Error(base::Fault::input, "it has neither an object of power nor one of energy");
  return objects;
}

Reading reading_of(const std::variant<double, std::string>& answer, const Object& object,
                   Counter& counter, Seconds now, int parts) {
  if (const auto* why = std::get_if<std::string>(&answer)) return Gap{Gap::Cause::failed, *why};
  const double value = std::get<double>(answer) * object.unit;
  if (object.quantity == Quantity::power) {
    // A node that runs draws power: 0 W is no measurement.
    if (!(value > 0 && value < most.value))
      return Gap{Gap::Cause::implausible, fmt::format("{} W", value)};
    return value / parts;
  }
  Reading reading = counter.update(Joules{value}, now);
  if (double* joules = std::get_if<double>(&reading)) *joules /= parts;
  return reading;
}

Poll::Ask asker(std::shared_ptr<Snmp> device, std::vector<Object> objects, int parts) {
  Counter counter({.range = {}, .most = most, .slack = Seconds(60)});
  const auto begin = std::chrono::steady_clock::now();
  return [device = std::move(device), objects = std::move(objects), parts, counter,
          begin](const Stopped& stopped) mutable {
    std::vector<Reading> readings;
    for (const Object& object : objects) {
      if (stopped()) break;
      const Seconds now = std::chrono::steady_clock::now() - begin;
      readings.push_back(reading_of(device->get(object.name), object, counter, now, parts));
    }
    return readings;
  };
}

void open_by_snmp(const Options& options, const Options::Outlet& outlet, Opened& opened) {
  const std::string what = titled(outlet, "SNMP", outlet.address);
  const std::vector<Object> objects = objects_of(outlet);
  auto device = Snmp::open(options.snmp, outlet.address, read_snmp_access(outlet.credentials));
  if (const auto* why = std::get_if<std::string>(&device))
    return say(opened, what, *why, "install Net-SNMP's library (Debian: libsnmp40)");
  std::shared_ptr<Snmp> shared = std::move(std::get<std::unique_ptr<Snmp>>(device));
  for (const Object& object : objects)
    if (const auto first = shared->get(object.name); std::holds_alternative<std::string>(first))
      return say(opened, what, std::get<std::string>(first),
                 "check address, credentials and object with snmpget");
  const auto poll = std::make_shared<Poll>(asker(shared, objects, outlet.feeds), every);
  for (std::size_t place = 0; place < objects.size(); ++place)
    opened.sources.push_back(
        polled(described(outlet, objects[place].quantity, what, objects[place].unit), poll, place));
}

// Redfish ---------------------------------------------------------------------------------------

/// `https://HOST` and what follows it.
std::pair<std::string, std::string> parted(const std::string& address) {
  const std::size_t host = address.find("://") + 3;
  const std::size_t path = std::min(address.find('/', host), address.size());
  return {address.substr(0, path), address.substr(path)};
}

void open_by_redfish(const Options& options, const Options::Outlet& outlet, Opened& opened) {
  const std::string what = titled(outlet, "Redfish", outlet.address);
  if (const std::string wrong = wrong_address(outlet.address); !wrong.empty())
    return say(opened, what, wrong, "give the address as https://HOST/redfish/v1/...");
  auto http = Http::open(options.curl, read_credentials(outlet.credentials));
  if (const auto* why = std::get_if<std::string>(&http))
    return say(opened, what, *why, "install libcurl (Debian: libcurl4)");
  const auto [server, path] = parted(outlet.address);
  const auto controller =
      std::make_shared<RedfishController>(std::move(std::get<std::unique_ptr<Http>>(http)), server);
  const auto begin = std::chrono::steady_clock::now();
  const Stopped late = [begin] { return std::chrono::steady_clock::now() - begin > at_start; };
  const std::string first = controller->get(path, late);
  const bool power = redfish_power(first).has_value(), energy = redfish_energy(first).has_value();
  if (!power && !energy)
    return say(opened, what, "tells neither power nor energy",
               "name the address of one outlet, as in .../RackPDUs/1/Outlets/A7",
               Unavailable::State::absent);
  const auto poll =
      std::make_shared<Poll>(redfish_numbers(controller, path, outlet.feeds), redfish_pace);
  if (power) opened.sources.push_back(polled(described(outlet, Quantity::power, what, 1), poll, 0));
  if (energy)
    opened.sources.push_back(
        polled(described(outlet, Quantity::energy, what, redfish_energy_step), poll, 1));
}

}  // namespace

Opened open_outlets(const Options& options) {
  Opened opened;
  for (const Options::Outlet& outlet : options.outlets) {
    const bool redfish = by_redfish(outlet);
    try {
      redfish ? open_by_redfish(options, outlet, opened) : open_by_snmp(options, outlet, opened);
    } catch (const base::Error& error) {
      const bool file = error.fault == base::Fault::input;
      say(opened, titled(outlet, redfish ? "Redfish" : "SNMP", outlet.address), error.what(),
          !file     ? "check address, credentials and certificate"
          : redfish ? "a file of mode 0600 with lines 'user = ...' and 'password = ...'"
                    : "a file of mode 0600 with a line 'community = ...', or 'user = ...' and "
                      "'password = ...'");
    }
  }
  return opened;
}

}  // namespace parajoule::meter
