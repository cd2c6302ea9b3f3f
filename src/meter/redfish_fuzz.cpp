// What a server answers, and what stands in a file of credentials: whatever the text, numbers are
// numbers above 0, addresses stay on the server, and no error shows a line of the file.

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "meter/credentials.h"
#include "meter/redfish.h"
#include "meter/redfish_answer.h"

using namespace parajoule::meter;

namespace {

void claim(bool holds) {
  if (!holds) std::abort();
}

void check_address(const std::string& address) {
  claim(address.starts_with('/') && !address.starts_with("//"));
  claim(address.find_first_of(" \t\r\n#") == std::string::npos);
}

void check_answer(std::string_view text) {
  if (const auto power = redfish_power(text))
    claim(power->value > 0 && std::isfinite(power->value));
  if (const auto energy = redfish_energy(text)) claim(energy->value >= 0);
  for (const std::string& member : redfish_members(text)) check_address(member);
  for (const char* name : {"Power", "EnvironmentMetrics"})
    if (const auto link = redfish_link(text, name)) check_address(*link);
}

void check_credentials(std::string_view text) {
  try {
    claim(!credentials_in(text, "/a/b").user.empty());
  } catch (const parajoule::base::Error& error) {
    claim(error.fault == parajoule::base::Fault::input);
    claim(std::string_view(error.what()).starts_with("/a/b: "));
    claim(std::string_view(error.what()).size() < 100);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* letters, std::size_t count) {
  const std::string_view text(letters, count);
  check_answer(text);
  check_credentials(text);
  return 0;
}
