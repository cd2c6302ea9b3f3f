#include "store/csv.h"

#include <charconv>

#include "store/utf8.h"

namespace parajoule::store {
namespace {

bool number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool formula(std::string_view text) {
  constexpr std::string_view begins = "=+-@\t\r";
  return !text.empty() && begins.find(text.front()) != begins.npos && !number(text);
}

}  // namespace

std::string csv_text(std::string_view text) {
  std::string valid = valid_utf8(text);
  if (formula(valid)) valid.insert(0, 1, '\'');
  if (valid.find_first_of(",\"\r\n") == valid.npos) return valid;
  std::string quoted = "\"";
  for (const char sign : valid) quoted += sign == '"' ? std::string("\"\"") : std::string(1, sign);
  return quoted + "\"";
}

}  // namespace parajoule::store
