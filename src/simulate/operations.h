#pragma once

// Vector operations that take virtual time.

#include "base/vector.h"
#include "simulate/kernel.h"

namespace parajoule::simulate {

/// An operation takes the bytes it reads and writes divided by the device's memory bandwidth, of
/// the rank that runs. With real numbers it is also done, by the host's loops. Without, vectors
/// have no elements: whatever is read from them is zero, and finite.
class TimedOperations final : public base::Operations {
 public:
  explicit TimedOperations(Kernel& kernel);

  void copy(base::Vector to, base::Vector from) const override;
  void cast(base::Vector to, base::Vector from) const override;
  void fill(base::Vector x, double value) const override;
  void scale(base::Vector x, double factor) const override;
  void add(base::Vector y, base::Vector x, double factor) const override;
  void lerp(base::Vector y, base::Vector x, double weight) const override;
  void multiply(base::Vector y, base::Vector x) const override;
  double dot(base::Vector x, base::Vector y) const override;
  double sum(base::Vector x) const override;
  double sum_of_magnitudes(base::Vector x) const override;
  double largest_magnitude(base::Vector x) const override;
  bool finite(base::Vector x) const override;
  void gather(base::Vector to, base::Vector from,
              std::span<const std::int64_t> index) const override;
  void scatter(base::Vector to, base::Vector from,
               std::span<const std::int64_t> index) const override;

 private:
  /// Takes the time; true if there are elements to work on.
  bool take(base::Vector x, std::size_t bytes) const;
  bool take(base::Vector x, base::Vector y, std::size_t bytes) const;

  Kernel& kernel_;
  double seconds_per_byte_;
};

}  // namespace parajoule::simulate
