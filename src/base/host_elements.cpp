#include "base/host_elements.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/loops.h"

namespace parajoule::base::host {

void unfit(std::string_view operation, Element element) {
  ensure(false, fmt::format("host vectors of {} have no {}", name_of(element), operation));
  std::abort();
}

void ensure_host(Vector x) {
  if (x.place() != Place::host) ensure(false, "host operations work on host memory");
}

void ensure_equal_counts(Vector x, Vector y) {
  ensure_host(x);
  ensure_host(y);
  if (x.count() != y.count())
    ensure(false,
           fmt::format("vectors of {} and {} elements are of one length", x.count(), y.count()));
}

void ensure_alike(Vector x, Vector y) {
  ensure_equal_counts(x, y);
  if (x.element() != y.element())
    ensure(false, fmt::format("vectors of {} and {} hold the same", name_of(x.element()),
                              name_of(y.element())));
}

bool is_narrow(Vector x) {
  return x.element() == Element::float16 || x.element() == Element::bfloat16;
}

void widen(std::span<float> to, Vector from) {
  if (from.element() == Element::float16)
    loops::widen_float16(to, raw<Bits16>(from));
  else
    loops::widen_bfloat16(to, raw<Bits16>(from));
}

void narrow(Vector to, std::span<const float> from) {
  if (to.element() == Element::float16)
    loops::narrow_float16(raw<Bits16>(to), from);
  else
    loops::narrow_bfloat16(raw<Bits16>(to), from);
}

std::int64_t whole(double value, std::string_view what) {
  if (!(std::fabs(value) < 0x1p63) || value != std::trunc(value))
    ensure(false, fmt::format("{} {} of integers is a whole number", what, value));
  return std::int64_t(value);
}

}  // namespace parajoule::base::host
