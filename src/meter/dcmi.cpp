#include "meter/dcmi.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "meter/poll.h"

namespace parajoule::meter {

using base::Seconds;
using base::Watts;

namespace {

constexpr Seconds every{1};           // DCMI does not say how often the number is renewed
constexpr Seconds at_start{1};        // how long the first answer may take
constexpr Watts most{65'000};         // near the end of the field's range
constexpr std::uint8_t group = 0xdc;  // DCMI's
constexpr std::uint8_t group_extension = 0x2c;
constexpr std::uint8_t get_power_reading = 0x02;
constexpr std::array<std::uint8_t, 4> statistics = {group, 0x01, 0, 0};

/// 95 % bound. DCMI states none and boards differ: assumed.
constexpr double bias = 0.1;

unsigned little(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t count) {
  unsigned number = 0;
  for (std::size_t i = count; i-- > 0;) number = number << 8 | bytes[at + i];
  return number;
}

constexpr std::uint8_t no_such_command = 0xc1;

std::string completion(std::uint8_t code) {
  switch (code) {
    case 0xc0:
      return "the management controller is busy";
    case no_such_command:
      return "the management controller knows no DCMI power reading";
    case 0xc3:
      return "the management controller took too long";
    case 0xd4:
      return "not allowed on this interface";
    default:
      return fmt::format("the management controller answers with code 0x{:02x}", code);
  }
}

std::variant<DcmiPower, Failure> ask(IpmiTransport& transport, const Stopped& stopped) {
  const auto answer = transport.ask(group_extension, get_power_reading, statistics, stopped);
  if (const auto* failure = std::get_if<Failure>(&answer)) return *failure;
  return dcmi_power(std::get<std::vector<std::uint8_t>>(answer));
}

/// A node that runs draws power: 0 W is no measurement.
Reading reading_of(const std::variant<DcmiPower, Failure>& answer) {
  if (const auto* failure = std::get_if<Failure>(&answer))
    return Gap{Gap::Cause::failed, failure->text};
  const DcmiPower& power = std::get<DcmiPower>(answer);
  if (!power.measuring) return Gap{Gap::Cause::failed, "no measurement available"};
  if (power.now <= Watts{0} || power.now >= most)
    return Gap{Gap::Cause::implausible, fmt::format("{} W", power.now.value)};
  return power.now.value;
}

constexpr const char* what = "whole node, IPMI DCMI";

Unavailable unopened(const std::filesystem::path& device, const Failure& failure) {
  const bool denied = failure.code == EACCES || failure.code == EPERM;
  return {.what = what,
          .reason = fmt::format("{}: {}", device.string(), failure.text),
          .remedy = denied ? fmt::format("sudo setfacl -m u:$USER:rw {}  (holds until the next "
                                         "start; whoever may write it may switch the node off)",
                                         device.string())
                           : "sudo modprobe ipmi_devintf ipmi_si  (needs a management controller)",
          .state = failure.code == ENODEV || failure.code == ENXIO
                       ? Unavailable::State::absent
                       : Unavailable::State::unreadable};
}

Description described(const std::filesystem::path& device) {
  return {.device = "node",
          .device_kind = "node",
          .quantity = Quantity::power,
          .unit = "watts",
          .label = Label::measured,
          .covers = fmt::format("{} ({}); {}", what, device.string(), untried),
          .resolution = 1,
          .update_period = every,
          .bias_relative = bias};
}

}  // namespace

std::variant<DcmiPower, Failure> dcmi_power(std::span<const std::uint8_t> answer) {
  constexpr std::size_t length = 19;
  if (answer.empty()) return Failure{0, "an answer without bytes"};
  if (answer[0] != 0) return Failure{answer[0], completion(answer[0])};
  if (answer.size() < length)
    return Failure{0, fmt::format("an answer of {} bytes, not {}", answer.size(), length)};
  if (answer[1] != group) return Failure{0, "not an answer of DCMI"};
  const auto watts = [&](std::size_t at) { return Watts{double(little(answer, at, 2))}; };
  return DcmiPower{.now = watts(2),
                   .lowest = watts(4),
                   .highest = watts(6),
                   .mean = watts(8),
                   .seconds = little(answer, 10, 4),
                   .statistics = Seconds(little(answer, 14, 4) * 1e-3),
                   .measuring = (answer[18] & 0x40) != 0};
}

Opened open_dcmi(const Options& options) {
  Opened opened;
  const std::filesystem::path device = options.dev / "ipmi0";
  auto transport = (options.ipmi ? options.ipmi : open_ipmi)(device);
  if (const auto* failure = std::get_if<Failure>(&transport)) {
    // Most machines have no such device, and nothing is amiss then.
    if (failure->code != ENOENT) opened.unavailable.push_back(unopened(device, *failure));
    return opened;
  }
  std::shared_ptr<IpmiTransport> controller =
      std::move(std::get<std::unique_ptr<IpmiTransport>>(transport));
  const auto begin = std::chrono::steady_clock::now();
  const auto late = [begin] { return std::chrono::steady_clock::now() - begin > at_start; };
  const auto first = ask(*controller, late);
  const auto missing = [&](std::string reason, Unavailable::State state) {
    opened.unavailable.push_back({.what = what,
                                  .reason = std::move(reason),
                                  .remedy = "none known: the controller must offer DCMI",
                                  .state = state});
    return std::move(opened);
  };
  if (const auto* failure = std::get_if<Failure>(&first))
    return missing(failure->text, failure->code == no_such_command
                                      ? Unavailable::State::absent
                                      : Unavailable::State::unreadable);
  if (const DcmiPower& power = std::get<DcmiPower>(first);
      !power.measuring && power.now <= Watts{0})
    return missing("it offers a power reading, and measures none", Unavailable::State::dead);
  auto poll = std::make_shared<Poll>(
      [controller](const Stopped& stopped) {
        return std::vector<Reading>{reading_of(ask(*controller, stopped))};
      },
      every);
  opened.sources.push_back(polled(described(device), std::move(poll), 0));
  return opened;
}

}  // namespace parajoule::meter
