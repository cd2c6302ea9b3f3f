#include "base/settings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/option_text.h"
#include "base/text.h"

namespace parajoule::base {
namespace {

using Kind = Option::Kind;
using Wholes = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

/// An option together with the table it stands in: what an error names.
struct Place {
  std::string_view table;
  const Option& option;

  [[noreturn]] void refuse(std::string_view value, const std::string& reason) const {
    throw Error(Fault::usage, fmt::format("{}{}{} = {}: {}", table, table.empty() ? "" : ".",
                                          option.name, shown(value), reason));
  }

  [[noreturn]] void refuse_kind(std::string_view value) const {
    refuse(value, fmt::format("must be {}", wanted(option.kind)));
  }
};

bool holds(const Value& value, Kind kind) {
  switch (kind) {
    case Kind::whole:
      return std::holds_alternative<std::int64_t>(value);
    case Kind::number:
      return std::holds_alternative<double>(value);
    case Kind::word:
      return std::holds_alternative<std::string>(value);
    case Kind::flag:
      return std::holds_alternative<bool>(value);
    case Kind::wholes:
      return std::holds_alternative<Wholes>(value);
    case Kind::numbers:
      return std::holds_alternative<Numbers>(value);
  }
  return false;
}

void check_number(const Place& place, double value, const Value& all) {
  const Option& option = place.option;
  if (!std::isfinite(value)) place.refuse(written(all), "must be finite");
  if (option.least && option.least == option.most && value != *option.least)
    place.refuse(written(all), fmt::format("must be {}", *option.least));
  if (option.least && option.most && (value < *option.least || value > *option.most))
    place.refuse(written(all), fmt::format("must lie in {} to {}", *option.least, *option.most));
  if (option.least && value < *option.least)
    place.refuse(written(all), fmt::format("must be at least {}", *option.least));
  if (option.most && value > *option.most)
    place.refuse(written(all), fmt::format("must be at most {}", *option.most));
}

void check_word(const Place& place, const std::string& word) {
  // A file name would silently end there.
  if (const std::size_t end = word.find('\0'); end != word.npos)
    place.refuse(word.substr(0, end), "a zero byte follows; leave it out");
  const auto& choices = place.option.choices;
  if (choices.empty() || std::ranges::find(choices, word) != choices.end()) return;
  std::string reason = fmt::format("must be one of {}", fmt::join(choices, ", "));
  if (const auto meant = nearest(word, choices))
    reason += fmt::format("; did you mean '{}'?", *meant);
  place.refuse(word, reason);
}

/// Whole numbers will do for numbers, and an empty list for either kind of list.
Value widened(Value value, Kind kind) {
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole && kind == Kind::number)
    return double(*whole);
  if (const auto* wholes = std::get_if<Wholes>(&value); wholes && kind == Kind::numbers)
    return Numbers(wholes->begin(), wholes->end());
  if (const auto* numbers = std::get_if<Numbers>(&value);
      numbers && numbers->empty() && kind == Kind::wholes)
    return Wholes{};
  return value;
}

/// `value` as the option keeps it, or a refusal.
Value checked(const Place& place, Value value) {
  const Kind kind = place.option.kind;
  value = widened(std::move(value), kind);
  const auto* text = std::get_if<std::string>(&value);
  if (text && kind != Kind::word && value_in(kind, *text))
    place.refuse(fmt::format("\"{}\"", *text),
                 fmt::format("must be {}: leave out the quotes", wanted(kind)));
  if (!holds(value, kind)) place.refuse_kind(written(value));
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    check_number(place, double(*whole), value);
  if (const auto* number = std::get_if<double>(&value)) check_number(place, *number, value);
  if (const auto* word = std::get_if<std::string>(&value)) check_word(place, *word);
  if (const auto* list = std::get_if<Wholes>(&value))
    for (std::int64_t whole : *list) check_number(place, double(whole), value);
  if (const auto* list = std::get_if<Numbers>(&value))
    for (double number : *list) check_number(place, number, value);
  return value;
}

/// The option's own value when nothing was given.
Value fallback(const Option& option) {
  const std::optional<Value> value = value_in(option.kind, option.fallback);
  if (!value)
    ensure(false, fmt::format("the fallback '{}' of option '{}' is {}", option.fallback,
                              option.name, wanted(option.kind)));
  return *value;
}

}  // namespace

template <class T>
const T& Settings::held(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) ensure(false, fmt::format("option '{}' is declared", name));
  const T* value = std::get_if<T>(&found->second.value);
  if (!value) ensure(false, fmt::format("option '{}' is read as what it is declared", name));
  return *value;
}

Settings::Settings(std::string_view table, std::span<const Option> options,
                   const std::map<std::string, Value>& given) {
  std::vector<std::string_view> names;
  for (const Option& option : options) {
    names.push_back(option.name);
    const auto said = given.find(std::string(option.name));
    const bool is_given = said != given.end();
    Value value = is_given ? checked({table, option}, said->second) : fallback(option);
    const Entry entry{.value = std::move(value), .given = is_given};
    if (!entries_.emplace(option.name, entry).second)
      ensure(false, fmt::format("option '{}' is declared once", option.name));
  }
  for (const auto& [name, value] : given)
    if (!entries_.contains(name))
      throw Error(Fault::usage,
                  fmt::format("{}{}{} = {}: no such option{}", table, table.empty() ? "" : ".",
                              shown(name), shown(written(value)), hint(name, names)));
}

std::int64_t Settings::whole(std::string_view name) const { return held<std::int64_t>(name); }
double Settings::number(std::string_view name) const { return held<double>(name); }
const std::string& Settings::word(std::string_view name) const { return held<std::string>(name); }
bool Settings::flag(std::string_view name) const { return held<bool>(name); }
const std::vector<std::int64_t>& Settings::wholes(std::string_view name) const {
  return held<Wholes>(name);
}
const std::vector<double>& Settings::numbers(std::string_view name) const {
  return held<Numbers>(name);
}

Value parse(const Option& option, std::string_view table, std::string_view text) {
  const Place place{table, option};
  const std::optional<Value> value = value_in(option.kind, text);
  if (!value) place.refuse_kind(text);
  return checked(place, *value);
}

}  // namespace parajoule::base
