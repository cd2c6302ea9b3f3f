#pragma once

#include <string>
#include <string_view>

namespace parajoule::cli {

/// A message as one line without control characters, whatever it quotes.
inline std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    line += control ? ' ' : c;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace parajoule::cli
