#pragma once

// Where versions of libtorch differ: 1.13 and 2.7 or later. Nothing else asks for the version.
// Only sources of nn/ that know torch include this.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>
#include <torch/version.h>

namespace parajoule::nn::torch_versions {

#if TORCH_VERSION_MAJOR >= 2

/// Whether operations on the processor can be lowered to half precision.
constexpr bool lowers_to_half = true;

inline bool lowered() { return at::autocast::is_autocast_enabled(at::kCPU); }
inline void lower(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }
inline void lower_to(at::ScalarType type) { at::autocast::set_autocast_dtype(at::kCPU, type); }

#else

constexpr bool lowers_to_half = false;

inline bool lowered() { return at::autocast::is_cpu_enabled(); }
inline void lower(bool on) { at::autocast::set_cpu_enabled(on); }
inline void lower_to(at::ScalarType type) { at::autocast::set_autocast_cpu_dtype(type); }

#endif

}  // namespace parajoule::nn::torch_versions
