#include "comm/bodies_test.h"

#include <algorithm>

namespace parajoule::comm::bodies {

using base::Element;
using base::Vector;

void store(Vector values, const std::vector<double>& numbers) {
  if (values.empty()) return;
  if (values.element() == Element::int64) {
    std::ranges::copy(numbers, values.as<std::int64_t>().begin());
  } else if (values.element() == Element::byte) {
    std::ranges::transform(numbers, values.as<std::byte>().begin(),
                           [](double x) { return std::byte(x); });
  } else {
    std::vector<double> wide = numbers;
    values.cast(Vector(std::span(wide)));
  }
}

std::vector<double> loaded(Vector values) {
  std::vector<double> numbers(values.count());
  if (values.empty()) return numbers;
  if (values.element() == Element::int64)
    std::ranges::copy(values.as<std::int64_t>(), numbers.begin());
  else if (values.element() == Element::byte)
    std::ranges::transform(values.as<std::byte>(), numbers.begin(),
                           [](std::byte x) { return double(x); });
  else
    Vector(std::span(numbers)).cast(values);
  return numbers;
}

std::vector<Body> all() {
  std::vector<Body> bodies = of_any_sum();
  bodies.insert(bodies.end(), of_own_sums().begin(), of_own_sums().end());
  return bodies;
}

std::vector<Body> of_any_sum() {
  std::vector<Body> bodies;
  for (const auto& part : {of_collectives(), of_sums(), of_messages(), of_groups()})
    bodies.insert(bodies.end(), part.begin(), part.end());
  return bodies;
}

}  // namespace parajoule::comm::bodies
