// Texts the meter takes from outside: whatever they hold, the answer keeps its promises.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "meter/cuda_visible.h"
#include "meter/processor_time.h"
#include "meter/source.h"

using namespace parajoule::meter;

namespace {

const std::vector<GpuNames> gpus = {
    {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", {}},
    {"GPU-8932aaaa-0000-4106-c12f-20bd9faed9f6", {"MIG-aaaa0000-1111", "MIG-aabb0000-1111"}},
};

void claim(bool holds) {
  if (!holds) std::abort();
}

void check_visible_gpus(std::string_view text) {
  const VisibleGpus visible = visible_gpus(text, gpus);
  claim(visible.gpus.size() <= gpus.size());
  claim(std::ranges::is_sorted(visible.gpus));
  claim(std::ranges::adjacent_find(visible.gpus) == visible.gpus.end());
  for (std::size_t gpu : visible.gpus) claim(gpu < gpus.size());
}

void check_ticks(std::string_view text) {
  const auto read = ticks_in(text, {0, 1, 7});
  if (const auto* ticks = std::get_if<Ticks>(&read))
    claim(0 <= ticks->busy && ticks->busy <= ticks->all);
}

void check_gap(std::string_view text) {
  const Gap gap = parse_gap(text);
  claim(parse_gap(written(gap)) == gap);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* letters, std::size_t count) {
  const std::string_view text(letters, count);
  check_visible_gpus(text);
  check_ticks(text);
  check_gap(text);
  return 0;
}
