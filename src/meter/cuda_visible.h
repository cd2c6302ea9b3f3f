#pragma once

// Which GPUs CUDA_VISIBLE_DEVICES leaves to a program.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::meter {

/// A GPU as NVML names it, in NVML's order (that of the PCI bus).
struct GpuNames {
  std::string uuid;                ///< `GPU-8932f937-d72c-4106-c12f-20bd9faed9f6`
  std::vector<std::string> parts;  ///< UUIDs of its MIG instances, `MIG-...`
};

struct VisibleGpus {
  std::vector<std::size_t> gpus;     ///< places in the list given, sorted, each once
  std::vector<std::string> remarks;  ///< what in the text was not understood, a line each
};

/// What CUDA makes of the text: indices, UUIDs or beginnings of UUIDs that fit one GPU only, or MIG
/// instances (`MIG-<uuid>`, or `MIG-<GPU uuid>/<instance>/<compute instance>` of older drivers),
/// separated by commas. The first word that names no GPU hides itself and all after it; so does one
/// of another kind than the first. A word given twice leaves none; so does an empty text. Of a MIG
/// instance the whole GPU is given: power is metered for that alone.
VisibleGpus visible_gpus(std::string_view text, std::span<const GpuNames> gpus);

}  // namespace parajoule::meter
