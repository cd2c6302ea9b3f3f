// Whatever a machine's or a profile's file holds, it is read or refused in one line.

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "rehearse/machine.h"
#include "rehearse/profile_file.h"

using namespace parajoule;

namespace {

template <class Read>
void check(const Read& read, const std::string& text) {
  try {
    read(text, "fuzz.toml");
  } catch (const base::Error& error) {
    const std::string_view what = error.what();
    if (error.fault != base::Fault::input || what.find('\n') != what.npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* letters, std::size_t count) {
  const std::string text(letters, count);
  check(rehearse::machine_in, text);
  check(rehearse::profile_in, text);
  return 0;
}
