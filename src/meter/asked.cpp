#include "meter/asked.h"

#include <utility>

#include <fmt/format.h>

namespace parajoule::meter {

AskedSource::AskedSource(Options options)
    : options_(std::move(options)), counter_({.most = options_.most}) {}

Reading AskedSource::read(base::Seconds now) {
  const Answer answer = options_.ask();
  if (const auto* why = std::get_if<std::string>(&answer)) return Gap{Gap::Cause::failed, *why};
  const double value = std::get<double>(answer);
  const Quantity quantity = options_.description.quantity;
  if (quantity == Quantity::energy) return counter_.update(base::Joules{value}, now);
  if (quantity == Quantity::power && value > options_.most.value)
    return Gap{Gap::Cause::implausible,
               fmt::format("{:.0f} W, more than {:.0f} W", value, options_.most.value)};
  return value;
}

}  // namespace parajoule::meter
