#include "meter/contradictions.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>

namespace parajoule::meter {

using base::Joules;
using base::Watts;

namespace {

/// Two numbers can be held against each other if they speak for the same time.
bool same_time(const SourceAccount& a, const SourceAccount& b) {
  const auto [less, more] = std::minmax(a.covered, b.covered);
  return less >= 0.98 * more;
}

bool has_number(const SourceAccount& source) {
  return source.energy && source.covered > base::Seconds(0);
}

Watts power_of(const SourceAccount& source) { return *source.energy / source.covered; }

/// The words of `covers` up to the first remark in them.
std::string named(const SourceAccount& source) {
  return source.description.covers.substr(0, source.description.covers.find(';'));
}

Watts unsure(const SourceAccount& source, bool without_bias) {
  const Uncertainty& uncertainty = source.uncertainty;
  return (without_bias ? uncertainty.resolution : uncertainty.whole()) / source.covered;
}

void compare(SourceAccount& a, SourceAccount& b) {
  const bool alike = sensor_type(a.description) == sensor_type(b.description);
  const Watts first = power_of(a), second = power_of(b);
  const Watts apart = std::max(first, second) - std::min(first, second);
  if (apart <= unsure(a, alike) + unsure(b, alike)) return;
  const auto told = [](const SourceAccount& other, Watts own, Watts others) {
    return fmt::format("disagrees: {:.1f} W, but {} says {:.1f} W", own.value, named(other),
                       others.value);
  };
  a.remarks.push_back(told(b, first, second));
  b.remarks.push_back(told(a, second, first));
}

void compare_sources_of_a_device(std::span<SourceAccount> sources) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (std::size_t j = i + 1; j < sources.size(); ++j) {
      SourceAccount &a = sources[i], &b = sources[j];
      const bool one_device = a.description.device == b.description.device &&
                              a.description.label == b.description.label &&
                              a.description.quantity == b.description.quantity;
      if (one_device && has_number(a) && has_number(b) && same_time(a, b)) compare(a, b);
    }
}

/// The first source of each device that has a measured number.
std::map<std::string, SourceAccount*> first_of_each(std::span<SourceAccount> sources) {
  std::map<std::string, SourceAccount*> first;
  for (SourceAccount& source : sources)
    if (has_number(source) && source.description.label == Label::measured)
      first.try_emplace(source.description.device, &source);
  return first;
}

void compare_parts_with_wholes(std::span<SourceAccount> sources) {
  const auto devices = first_of_each(sources);
  for (const auto& [device, whole] : devices) {
    Total<Label::measured> parts;
    for (const auto& [unused, part] : devices)
      if (part->description.part_of == device && part != whole && same_time(*part, *whole))
        parts.add(*part->energy, part->uncertainty, sensor_type(part->description));
    const double unsure =
        std::hypot(whole->uncertainty.whole().value, parts.uncertainty().whole().value);
    if (parts.energy() > *whole->energy + Joules{unsure})
      whole->remarks.push_back(
          fmt::format("its parts draw more than it: {:.1f} J together, and it {:.1f} J",
                      parts.energy().value, whole->energy->value));
  }
}

/// `package-1 dram` and `package-0 dram` are alike.
std::string without_numbers(std::string name) {
  std::erase_if(name, [](unsigned char letter) { return std::isdigit(letter) != 0; });
  return name;
}

void compare_memories(std::span<SourceAccount> sources) {
  const auto devices = first_of_each(sources);
  for (const auto& [device, source] : devices) {
    if (source->description.device_kind != "memory") continue;
    for (const auto& [other, less] : devices) {
      const bool alike = less->description.device_kind == "memory" &&
                         without_numbers(device) == without_numbers(other);
      const Watts high = power_of(*source), low = power_of(*less);
      if (!alike || high < 10 * low || high - low < Watts{50}) continue;
      source->remarks.push_back(
          fmt::format("{:.0f} W, where {} draws {:.0f} W: one of them may be wrong", high.value,
                      other, low.value));
      break;
    }
  }
}

}  // namespace

void tell_contradictions(std::span<SourceAccount> sources) {
  compare_sources_of_a_device(sources);
  compare_parts_with_wholes(sources);
  compare_memories(sources);
}

}  // namespace parajoule::meter
