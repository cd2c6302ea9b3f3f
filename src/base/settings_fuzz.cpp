// Whatever is written for an option is read or refused in one line, and what is read comes back
// from `written`.

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/settings.h"

using namespace parajoule::base;

namespace {

using Kind = Option::Kind;

void check(const Option& option, std::string_view text) {
  try {
    const Value value = parse(option, "fuzz", text);
    if (parse(option, "fuzz", written(value)) != value) std::abort();
  } catch (const Error& error) {
    if (error.fault != Fault::usage) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* letters, std::size_t count) {
  const std::string_view text(letters, count);
  for (Kind kind : {Kind::whole, Kind::number, Kind::flag, Kind::wholes, Kind::numbers})
    check({.name = "option", .kind = kind, .fallback = "", .help = ""}, text);
  return 0;
}
