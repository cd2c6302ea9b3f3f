#include "base/option_text.h"

#include <charconv>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace parajoule::base {
namespace {

using Kind = Option::Kind;
using Wholes = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// All of `text` as a T; none if something is left over.
template <class T>
std::optional<T> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `30, 60` with or without brackets; empty brackets are an empty list.
template <class T>
std::optional<std::vector<T>> list_in(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  if (bracketed != text.ends_with(']') || text.empty() || text == "[" || text == "]")
    return std::nullopt;
  if (bracketed) text = trimmed(text.substr(1, text.size() - 2));
  std::vector<T> list;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const auto number = number_in<T>(trimmed(text.substr(0, comma)));
    if (!number) return std::nullopt;
    list.push_back(*number);
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  return list;
}

std::optional<bool> flag_in(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

}  // namespace

std::string_view wanted(Kind kind) {
  switch (kind) {
    case Kind::whole:
      return "a whole number";
    case Kind::number:
      return "a number";
    case Kind::word:
      return "a word";
    case Kind::flag:
      return "true or false";
    case Kind::wholes:
      return "a list of whole numbers such as [30, 60]";
    case Kind::numbers:
      return "a list of numbers such as [0.1, 0.01]";
  }
  return "";
}

std::optional<Value> value_in(Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::whole:
      return number_in<std::int64_t>(trimmed(text));
    case Kind::number:
      return number_in<double>(trimmed(text));
    case Kind::flag:
      return flag_in(trimmed(text));
    case Kind::wholes:
      return list_in<std::int64_t>(trimmed(text));
    case Kind::numbers:
      return list_in<double>(trimmed(text));
    case Kind::word:
      return std::string(unquoted(text));
  }
  return std::nullopt;
}

std::string written(const Value& value) {
  return std::visit(
      []<class T>(const T& held) {
        if constexpr (std::is_same_v<T, Wholes> || std::is_same_v<T, Numbers>)
          return fmt::format("[{}]", fmt::join(held, ", "));
        else
          return fmt::format("{}", held);
      },
      value);
}

}  // namespace parajoule::base
