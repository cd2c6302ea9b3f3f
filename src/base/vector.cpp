#include "base/vector.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::base {
namespace {

struct Kind {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Kind, 6> kinds{
    {{"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2}, {"int64", 8}, {"byte", 1}}};

const Kind& kind(Element element) { return kinds.at(std::size_t(element)); }

}  // namespace

std::size_t bytes_of(Element element) { return kind(element).bytes; }
std::string_view name_of(Element element) { return kind(element).name; }

Vector Vector::operator[](Range range) const {
  if (range.begin > range.end || range.end > count_)
    ensure(false,
           fmt::format("elements {} to {} lie in a vector of {}", range.begin, range.end, count_));
  Vector part = *this;
  part.count_ = range.size();
  if (data_) part.data_ = static_cast<std::byte*>(data_) + range.begin * bytes_of(element_);
  return part;
}

void* Vector::checked(Element wanted) const {
  if (place_ != Place::host) ensure(false, "elements that are read as numbers lie on the host");
  if (element_ != wanted)
    ensure(false, fmt::format("a vector read as {} holds {}", name_of(wanted), name_of(element_)));
  return data_;
}

}  // namespace parajoule::base
