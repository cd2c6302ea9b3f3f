#include "cli/fields.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace parajoule::cli {
namespace {

std::string escaped(std::string_view value, char end) {
  std::string out;
  for (char c : value) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == end) {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

std::string plain(std::string_view value, char end) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\' || i + 1 == value.size()) {
      out += value[i];
      continue;
    }
    const char code = value[++i];
    out += code == 'n' ? '\n' : code == 'e' ? end : code;
  }
  return out;
}

template <class Number>
std::optional<Number> number_in(const std::optional<std::string>& text) {
  if (!text) return {};
  Number value{};
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end) return {};
  return value;
}

}  // namespace

void Fields::put(std::string_view name, std::string_view value) {
  const auto old = std::ranges::find(fields_, name, [](const auto& field) { return field.first; });
  if (old != fields_.end()) {
    old->second = value;
  } else {
    fields_.emplace_back(name, value);
  }
}

void Fields::put(std::string_view name, double value) { put(name, fmt::format("{}", value)); }

void Fields::put(std::string_view name, long value) { put(name, fmt::format("{}", value)); }

std::optional<std::string> Fields::text(std::string_view name) const {
  const auto field =
      std::ranges::find(fields_, name, [](const auto& entry) { return entry.first; });
  if (field == fields_.end()) return {};
  return field->second;
}

std::optional<double> Fields::number(std::string_view name) const {
  return number_in<double>(text(name));
}

std::optional<long> Fields::whole(std::string_view name) const {
  return number_in<long>(text(name));
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> names;
  for (const auto& field : fields_) names.push_back(field.first);
  return names;
}

std::string Fields::written(char end) const {
  std::string out;
  for (const auto& [name, value] : fields_) {
    out += name + ' ' + escaped(value, end) + end;
  }
  return out;
}

Fields Fields::parse(std::string_view text, char end) {
  Fields fields;
  for (std::size_t at = text.find(end); at != text.npos; at = text.find(end)) {
    const std::string_view line = text.substr(0, at);
    text.remove_prefix(at + 1);
    const std::size_t space = line.find(' ');
    if (space == line.npos || space == 0) continue;
    fields.put(line.substr(0, space), plain(line.substr(space + 1), end));
  }
  return fields;
}

}  // namespace parajoule::cli
