#include "simulate/operations.h"

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::simulate {
namespace {

const base::Operations& host = base::host_operations();

}  // namespace

TimedOperations::TimedOperations(Kernel& kernel)
    : kernel_(kernel),
      seconds_per_byte_(kernel.options().device.memory_bytes_per_second
                            ? 1 / *kernel.options().device.memory_bytes_per_second
                            : 0) {}

bool TimedOperations::take(base::Vector x, std::size_t bytes) const {
  kernel_.spend(seconds_per_byte_ * double(bytes), "vectors");
  return x.place() != base::Place::nowhere;
}

bool TimedOperations::take(base::Vector x, base::Vector y, std::size_t bytes) const {
  if (x.count() != y.count())
    base::ensure(false, fmt::format("vectors of one operation have equal counts, not {} and {}",
                                    x.count(), y.count()));
  const bool both = y.place() != base::Place::nowhere;
  return take(x, bytes) && both;
}

void TimedOperations::copy(base::Vector to, base::Vector from) const {
  if (take(to, from, to.bytes() + from.bytes()))
    host.copy(to, from);
  else if (to.data())
    host.fill(to, 0);
}
void TimedOperations::cast(base::Vector to, base::Vector from) const {
  if (take(to, from, to.bytes() + from.bytes()))
    host.cast(to, from);
  else if (to.data())
    host.fill(to, 0);
}
void TimedOperations::fill(base::Vector x, double value) const {
  if (take(x, x.bytes())) host.fill(x, value);
}
void TimedOperations::scale(base::Vector x, double factor) const {
  if (take(x, 2 * x.bytes())) host.scale(x, factor);
}
void TimedOperations::add(base::Vector y, base::Vector x, double factor) const {
  if (take(y, x, 3 * y.bytes())) host.add(y, x, factor);
}
void TimedOperations::lerp(base::Vector y, base::Vector x, double weight) const {
  if (take(y, x, 3 * y.bytes())) host.lerp(y, x, weight);
}
void TimedOperations::multiply(base::Vector y, base::Vector x) const {
  if (take(y, x, 3 * y.bytes())) host.multiply(y, x);
}
double TimedOperations::dot(base::Vector x, base::Vector y) const {
  return take(x, y, x.bytes() + y.bytes()) ? host.dot(x, y) : 0;
}
double TimedOperations::sum(base::Vector x) const { return take(x, x.bytes()) ? host.sum(x) : 0; }
double TimedOperations::sum_of_magnitudes(base::Vector x) const {
  return take(x, x.bytes()) ? host.sum_of_magnitudes(x) : 0;
}
double TimedOperations::largest_magnitude(base::Vector x) const {
  return take(x, x.bytes()) ? host.largest_magnitude(x) : 0;
}
bool TimedOperations::finite(base::Vector x) const {
  return take(x, x.bytes()) ? host.finite(x) : true;
}
void TimedOperations::gather(base::Vector to, base::Vector from,
                             std::span<const std::int64_t> index) const {
  if (take(to, 2 * to.bytes() + index.size_bytes()) && from.data()) host.gather(to, from, index);
}
void TimedOperations::scatter(base::Vector to, base::Vector from,
                              std::span<const std::int64_t> index) const {
  if (take(to, 2 * from.bytes() + index.size_bytes()) && from.data()) host.scatter(to, from, index);
}

}  // namespace parajoule::simulate
