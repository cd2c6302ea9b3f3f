// Answers of a management controller to a question for its power: whatever the bytes, the answer is
// a power in the range of its fields, or words that say what is wrong.

#include <cstdint>
#include <cstdlib>
#include <span>

#include "meter/dcmi.h"

using namespace parajoule::meter;

namespace {

void claim(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const auto answer = dcmi_power(std::span(bytes, count));
  if (const auto* failure = std::get_if<Failure>(&answer)) {
    claim(!failure->text.empty());
    return 0;
  }
  const DcmiPower& power = std::get<DcmiPower>(answer);
  claim(count >= 19 && bytes[0] == 0 && bytes[1] == 0xdc);
  for (const auto watts : {power.now, power.lowest, power.highest, power.mean})
    claim(watts.value >= 0 && watts.value <= 0xffff);
  claim(power.now.value == bytes[2] + 256 * bytes[3]);
  claim(power.measuring == ((bytes[18] >> 6 & 1) == 1));
  claim(power.statistics.count() >= 0);
  return 0;
}
