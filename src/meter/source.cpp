#include "meter/source.h"

#include <utility>

namespace parajoule::meter {

namespace {

constexpr std::pair<Gap::Cause, std::string_view> causes[] = {
    {Gap::Cause::failed, "failed"},       {Gap::Cause::implausible, "implausible"},
    {Gap::Cause::reset, "reset"},         {Gap::Cause::missed_wrap, "missed_wrap"},
    {Gap::Cause::suspended, "suspended"}, {Gap::Cause::late, "late"},
};

std::string_view name_of(Gap::Cause cause) {
  for (const auto& [known, name] : causes)
    if (known == cause) return name;
  return "failed";
}

}  // namespace

std::string_view name_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::energy:
      return "energy";
    case Quantity::power:
      return "power";
    case Quantity::temperature:
      return "temperature";
    case Quantity::clock:
      return "clock";
    case Quantity::utilisation:
      return "utilisation";
    case Quantity::memory:
      return "memory";
  }
  return "unknown";
}

std::string_view name_of(Label label) {
  switch (label) {
    case Label::measured:
      return "measured";
    case Label::modelled:
      return "modelled";
    case Label::simulated:
      return "simulated";
  }
  return "unknown";
}

bool energetic(const Description& description) {
  return description.quantity == Quantity::energy || description.quantity == Quantity::power;
}

std::string written(const Gap& gap) {
  std::string text(name_of(gap.cause));
  return gap.detail.empty() ? text : text + ": " + gap.detail;
}

Gap parse_gap(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  for (const auto& [cause, name] : causes) {
    if (name != word) continue;
    if (colon == std::string_view::npos) return {cause, ""};
    const std::string_view rest = text.substr(colon + 1);
    return {cause, std::string(rest.starts_with(' ') ? rest.substr(1) : rest)};
  }
  return {Gap::Cause::failed, std::string(text)};
}

}  // namespace parajoule::meter
