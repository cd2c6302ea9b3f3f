#include "meter/redfish.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/credentials.h"
#include "meter/http.h"
#include "meter/poll.h"
#include "meter/redfish_answer.h"
#include "meter/redfish_controller.h"

namespace parajoule::meter {

using base::Seconds;

namespace {

constexpr Seconds at_start{15};  // for all answers that are needed to find the chassis

/// 95 % bound. The schemas state none and boards differ: assumed.
constexpr double bias = 0.1;

/// What of one chassis can be asked for.
struct Chassis {
  std::string address;  ///< of what holds the numbers
  std::string name;     ///< the last word of its own address
  bool power;
  bool energy;
};

/// `1` of `/redfish/v1/Chassis/1/`.
std::string last_word(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

/// Where a chassis tells its power; the newer of the two schemas before the older.
std::optional<Chassis> chassis_at(RedfishController& controller, const std::string& path,
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

std::vector<Chassis> find_chassis(RedfishController& controller) {
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
          .resolution = counts ? redfish_energy_step : 1,
          .update_period = redfish_pace,
          .bias_relative = bias};
}

void add_sources(const Options::Redfish& server,
                 const std::shared_ptr<RedfishController>& controller,
                 const std::vector<Chassis>& found, Opened& opened) {
  for (const Chassis& chassis : found) {
    const bool alone = found.size() == 1;
    const auto poll =
        std::make_shared<Poll>(redfish_numbers(controller, chassis.address), redfish_pace);
    if (chassis.power)
      opened.sources.push_back(polled(described(server, chassis, Quantity::power, alone), poll, 0));
    if (chassis.energy)
      opened.sources.push_back(
          polled(described(server, chassis, Quantity::energy, alone), poll, 1));
  }
}

}  // namespace

Opened open_redfish(const Options& options) {
  Opened opened;
  if (!options.redfish) return opened;
  const Options::Redfish& server = *options.redfish;
  using State = Unavailable::State;
  const auto missing = [&](std::string reason, std::string remedy,
                           State state = State::unreadable) {
    opened.unavailable.push_back({.what = fmt::format("whole node, Redfish ({})", server.address),
                                  .reason = std::move(reason),
                                  .remedy = std::move(remedy),
                                  .state = state});
    return std::move(opened);
  };
  if (const std::string wrong = wrong_address(server.address); !wrong.empty())
    return missing(wrong, "give the address as https://HOST");
  try {
    auto http = Http::open(options.curl, read_credentials(server.credentials));
    if (const auto* why = std::get_if<std::string>(&http))
      return missing(*why, "install libcurl (Debian: libcurl4)");
    const auto controller = std::make_shared<RedfishController>(
        std::move(std::get<std::unique_ptr<Http>>(http)), server.address);
    const auto found = find_chassis(*controller);
    if (found.empty())
      return missing("no chassis tells its power", "none known: the controller must offer it",
                     State::absent);
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
