// Texts the meter takes from outside: whatever they hold, the answer keeps its promises.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meter/amd_visible.h"
#include "meter/cuda_visible.h"
#include "meter/nvml_field.h"
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

/// The text is ROCR's up to the first semicolon, and HIP's behind it.
void check_visible_amd_gpus(std::string_view text) {
  static const std::vector<std::string> names = {"GPU-00000000000000a0", "GPU-00000000000000a1",
                                                 "GPU-00000000000000a2"};
  const std::size_t cut = text.find(';');
  std::optional<std::string_view> hip;
  if (cut != std::string_view::npos) hip = text.substr(cut + 1);
  const VisibleAmdGpus left = visible_amd_gpus(text.substr(0, cut), {}, names);
  const VisibleAmdGpus visible = visible_amd_gpus(text.substr(0, cut), hip, names);
  claim(visible.gpus.size() <= left.gpus.size() && visible.remarks.size() <= 2);
  for (std::size_t gpu : visible.gpus) {
    claim(gpu < names.size());
    claim(std::ranges::count(visible.gpus, gpu) == 1);
    claim(std::ranges::count(left.gpus, gpu) == 1);
  }
}

/// Whatever bytes a driver writes, a power is a number that is finite and not negative, or none.
void check_field(std::string_view bytes) {
  NvmlField field{};
  std::memcpy(&field, bytes.data(), std::min(bytes.size(), sizeof field));
  const auto number = number_in(field);
  if (const auto* value = std::get_if<double>(&number)) claim(std::isfinite(*value) && *value >= 0);
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
  check_visible_amd_gpus(text);
  check_field(text);
  check_ticks(text);
  check_gap(text);
  return 0;
}
