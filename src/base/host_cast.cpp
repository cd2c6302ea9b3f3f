// Every element type into every other: pairs that are common by a loop, the others one by one.

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/host_elements.h"
#include "base/loops.h"
#include "base/narrow.h"

namespace parajoule::base::host {
namespace {

double read_one(Vector x, std::size_t i) {
  switch (x.element()) {
    case Element::float32:
      return x.as<float>()[i];
    case Element::float64:
      return x.as<double>()[i];
    case Element::float16:
      return from_float16(raw<Bits16>(x)[i]);
    case Element::bfloat16:
      return from_bfloat16(raw<Bits16>(x)[i]);
    case Element::int64:
      return double(x.as<std::int64_t>()[i]);
    case Element::byte:
      return double(raw<std::uint8_t>(x)[i]);
  }
  unfit("cast", x.element());
}

void write_one(Vector x, std::size_t i, double value) {
  switch (x.element()) {
    case Element::float32:
      x.as<float>()[i] = float(value);
      return;
    case Element::float64:
      x.as<double>()[i] = value;
      return;
    case Element::float16:
      raw<Bits16>(x)[i] = to_float16(to_odd(value));
      return;
    case Element::bfloat16:
      raw<Bits16>(x)[i] = to_bfloat16(to_odd(value));
      return;
    case Element::int64:
      x.as<std::int64_t>()[i] = whole(std::trunc(value), "the value");
      return;
    case Element::byte:
      ensure(value > -1 && value < 256, "a number cast to a byte lies in 0 to 255");
      raw<std::uint8_t>(x)[i] = std::uint8_t(value);
      return;
  }
  unfit("cast", x.element());
}

}  // namespace

void cast(Vector to, Vector from) {
  ensure_equal_counts(to, from);
  const auto between = [&](Element a, Element b) {
    return from.element() == a && to.element() == b;
  };
  if (to.element() == from.element()) return to.copy(from);
  if (between(Element::float32, Element::float64))
    return loops::convert(to.as<double>(), from.as<float>());
  if (between(Element::float64, Element::float32))
    return loops::convert(to.as<float>(), from.as<double>());
  if (to.element() == Element::float32 && is_narrow(from)) return widen(to.as<float>(), from);
  if (from.element() == Element::float32 && is_narrow(to)) return narrow(to, from.as<float>());
  for (std::size_t i = 0; i < to.count(); ++i) write_one(to, i, read_one(from, i));
}

}  // namespace parajoule::base::host
