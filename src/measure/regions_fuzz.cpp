// Files of regions are written by other programs, and torn where those are killed.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measure/region_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace parajoule;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const measure::ToldRegions told = measure::regions_in(text, 0, base::Seconds(1000));
  if (told.phases.size() > size || told.open < 0 || told.misread < 0) std::abort();
  for (const store::Phase& phase : told.phases)
    if (!(phase.begin <= phase.end) || !std::isfinite(phase.begin.count())) std::abort();
  return 0;
}
