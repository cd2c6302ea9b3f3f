#include "store/utf8.h"

#include <cstddef>

namespace parajoule::store {
namespace {

// Bytes of the sign that begins with `lead`; none begins with other bytes.
std::size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

}  // namespace

Sign first_sign(std::string_view text) {
  const Sign no_sign{text.substr(0, 1), {}};
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = length_of(lead);
  if (length == 0 || length > text.size()) return no_sign;
  char32_t code = length == 1 ? lead : lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return no_sign;
    code = code << 6 | (byte & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least[length] || code > 0x10FFFF || surrogate) return no_sign;
  return {text.substr(0, length), code};
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const Sign sign = first_sign(text);
    valid += sign.code ? sign.bytes : "\uFFFD";
    text.remove_prefix(sign.bytes.size());
  }
  return valid;
}

}  // namespace parajoule::store
