#pragma once

// Text out of a record may be any bytes: what of it is UTF-8.

#include <optional>
#include <string>
#include <string_view>

namespace parajoule::store {

/// The first sign of a text: its bytes and its code, or one byte that is no UTF-8 (RFC 3629).
struct Sign {
  std::string_view bytes;
  std::optional<char32_t> code;
};

/// `text` must not be empty.
Sign first_sign(std::string_view text);

/// `text` with U+FFFD for every byte that is no UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace parajoule::store
