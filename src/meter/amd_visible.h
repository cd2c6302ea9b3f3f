#pragma once

// Which GPUs ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES leave to a program.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::meter {

struct VisibleAmdGpus {
  std::vector<std::size_t> gpus;     ///< places in the list given, in the order they are numbered
  std::vector<std::string> remarks;  ///< what was not understood, a line each
};

/// Both texts hold numbers or names (`GPU-` and the sixteen digits of `unique_id`), separated by
/// commas; the first word that fits no GPU hides itself and all after it, an empty text hides all.
/// HIP numbers what ROCR leaves. None: the variable is not set, and hides nothing.
VisibleAmdGpus visible_amd_gpus(std::optional<std::string_view> rocr,
                                std::optional<std::string_view> hip,
                                std::span<const std::string> names);

}  // namespace parajoule::meter
