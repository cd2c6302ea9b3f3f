#include "exact/fields.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace parajoule::exact {
namespace {

using nlohmann::json;

[[noreturn]] void fail(std::string_view where, std::string_view why) {
  throw base::Error(base::Fault::input, fmt::format("{}: {}", base::escaped(where), why));
}

/// What stands there, short enough for a line.
std::string shown(const json& value) {
  constexpr std::size_t longest = 40;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

/// Line and column of a byte, from 1.
std::string place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // of none: 0
  return fmt::format("line {}, column {}", lines + 1, before.size() - line_begin + 1);
}

}  // namespace

void Field::refuse(std::string_view wanted) const {
  fail(where, fmt::format("must be {}, not {}", wanted, shown(value)));
}

double Field::number() const {
  if (!value.is_number()) refuse("a number");
  return value.get<double>();
}

double Field::number_from(double least) const {
  if (!value.is_number() || value.get<double>() < least)
    refuse(fmt::format("a number from {}", least));
  return value.get<double>();
}

double Field::number_in(double least, double most) const {
  if (!value.is_number() || value.get<double>() < least || value.get<double>() > most)
    refuse(fmt::format("a number from {} to {}", least, most));
  return value.get<double>();
}

std::int64_t Field::whole_from(std::int64_t least) const {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  const bool whole = value.is_number_integer();
  const bool fits = whole && (value.is_number_unsigned() ? value.get<std::uint64_t>() <= most
                                                         : value.get<std::int64_t>() < 0);
  if (!fits || value.get<std::int64_t>() < least)
    refuse(fmt::format("a whole number from {} to {}", least, most));
  return value.get<std::int64_t>();
}

std::vector<double> Field::numbers() const {
  auto read = list("a list of numbers", [](const Field& field) { return field.number(); });
  if (read.empty()) refuse("a list of at least one number");
  return read;
}

std::vector<std::vector<double>> Field::rows() const {
  auto read = list("a list of rows", [](const Field& field) { return field.numbers(); });
  if (read.empty()) refuse("a list of at least one row");
  return read;
}

json json_in(std::string_view text, std::string_view name) {
  std::vector<std::set<std::string>> keys;
  const auto once = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      fail(name, fmt::format("{} stands twice; keep one of them", shown(value)));
    return true;
  };
  constexpr bool throws = true, comments = true;
  try {
    return json::parse(text, once, throws, comments);
  } catch (const json::parse_error& error) {
    fail(name,
         fmt::format("not JSON at {}; `parajoule trace --example` prints a file to begin with",
                     place_of(text, error.byte)));
  } catch (const json::exception&) {
    fail(name, "a number is too large for double precision");
  }
}

}  // namespace parajoule::exact
