#include "base/archive.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace parajoule::base {
namespace {

std::vector<std::int64_t> shape_of(Vector values, const std::vector<std::int64_t>& given) {
  if (given.empty()) return {std::int64_t(values.count())};
  const std::int64_t count =
      std::accumulate(given.begin(), given.end(), std::int64_t{1}, std::multiplies<>{});
  if (count != std::int64_t(values.count()))
    ensure(false, fmt::format("a shape of {} elements has as many as its vector, {}", count,
                              values.count()));
  return given;
}

std::string described(Element element, const std::vector<std::int64_t>& shape) {
  return fmt::format("{} [{}]", name_of(element), fmt::join(shape, ", "));
}

template <class T>
T only(std::string_view name, const Archive& archive) {
  T value;
  archive.get(name, Vector(std::span(&value, 1)));
  return value;
}

}  // namespace

void Archive::put(std::string_view name, Vector values, std::vector<std::int64_t> shape) {
  ensure(values.place() == Place::host, "what is archived lies on the host");
  Entry entry{values.element(), shape_of(values, shape), std::vector<std::byte>(values.bytes())};
  if (!values.empty()) std::memcpy(entry.bytes.data(), values.data(), values.bytes());
  const bool fresh = entries_.emplace(std::string(name), std::move(entry)).second;
  if (!fresh) ensure(false, fmt::format("'{}' is stored once", name));
}

void Archive::put(std::string_view name, std::int64_t value) {
  put(name, Vector(std::span(&value, 1)));
}

void Archive::put(std::string_view name, double value) { put(name, Vector(std::span(&value, 1))); }

void Archive::put(std::string_view name, std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char letter) { return std::byte(letter); });
  put(name, Vector(std::span(bytes)));
}

void Archive::put(std::string_view name, std::span<const std::int64_t> values) {
  std::vector<std::int64_t> own(values.begin(), values.end());
  put(name, Vector(std::span(own)));
}

void Archive::get(std::string_view name, Vector values,
                  const std::vector<std::int64_t>& shape) const {
  ensure(values.place() == Place::host, "what is read from an archive goes to the host");
  const Entry& entry = at(name);
  const std::vector<std::int64_t> wanted = shape_of(values, shape);
  if (entry.element != values.element() || entry.shape != wanted ||
      entry.bytes.size() != values.bytes())
    throw Error(Fault::input, fmt::format("checkpoint: '{}' holds {}, wanted is {}; resume with "
                                          "the settings it was written with",
                                          name, described(entry.element, entry.shape),
                                          described(values.element(), wanted)));
  if (!values.empty()) std::memcpy(values.data(), entry.bytes.data(), values.bytes());
}

std::int64_t Archive::whole(std::string_view name) const { return only<std::int64_t>(name, *this); }
double Archive::number(std::string_view name) const { return only<double>(name, *this); }

std::string Archive::text(std::string_view name) const {
  const Entry& entry = at(name);
  if (entry.element != Element::byte)
    throw Error(Fault::input, fmt::format("checkpoint: '{}' holds {}, wanted is text", name,
                                          described(entry.element, entry.shape)));
  std::string text(entry.bytes.size(), ' ');
  std::ranges::transform(entry.bytes, text.begin(), [](std::byte byte) { return char(byte); });
  return text;
}

std::vector<std::int64_t> Archive::wholes(std::string_view name) const {
  std::vector<std::int64_t> values(at(name).bytes.size() / sizeof(std::int64_t));
  get(name, Vector(std::span(values)));
  return values;
}

Archive Archive::part(std::string_view prefix) const {
  const std::string begin = fmt::format("{}.", prefix);
  Archive part;
  for (auto entry = entries_.lower_bound(begin);
       entry != entries_.end() && entry->first.starts_with(begin); ++entry)
    part.entries_.emplace(entry->first.substr(begin.size()), entry->second);
  return part;
}

void Archive::nest(std::string_view prefix, const Archive& part) {
  for (const auto& [name, entry] : part.entries_) {
    const std::string nested = fmt::format("{}.{}", prefix, name);
    const bool fresh = entries_.emplace(nested, entry).second;
    if (!fresh) ensure(false, fmt::format("'{}' is stored once", nested));
  }
}

const Archive::Entry& Archive::at(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    throw Error(Fault::input,
                fmt::format("checkpoint: '{}' is missing; resume with the settings it was written "
                            "with",
                            name));
  return found->second;
}

}  // namespace parajoule::base
