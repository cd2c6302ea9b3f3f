#include "base/text.h"

#include <fmt/format.h>

namespace parajoule::base {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Whether a byte is inside a character of UTF-8, not its first.
bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else if (is_control(c))
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      line += c;
  }
  return line;
}

std::string shown(std::string_view text, std::size_t most) {
  if (text.size() <= most) return escaped(text);
  std::size_t end = most;
  while (end > 0 && goes_on(text[end])) --end;
  return escaped(text.substr(0, end)) + "...";
}

}  // namespace parajoule::base
