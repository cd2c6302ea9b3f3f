#pragma once

// In which numbers a net computes, and in which its weights are kept.

#include <cstdint>
#include <string_view>

#include "base/vector.h"

namespace parajoule::nn {

/// bfloat16, float16: products are computed in 16 bits; weights, gradients, running statistics and
/// sums stay in float32 (Micikevicius et al. 2018, arXiv:1710.03740).
enum class Precision : std::uint8_t { float64, float32, bfloat16, float16 };

/// By its name in an experiment. Throws Error{usage} for an unknown one, with the known ones, and
/// for one that this libtorch or this processor cannot do, with the reason and a way out.
Precision precision(std::string_view name);

/// Of weights, gradients and buffers.
base::Element element_of(Precision precision);

/// While it lives, forward passes on this thread compute in `precision`. The backward pass follows
/// by itself.
class Lowered {
 public:
  explicit Lowered(Precision precision);
  ~Lowered();
  Lowered(const Lowered&) = delete;
  Lowered& operator=(const Lowered&) = delete;

 private:
  bool lowers_;
};

}  // namespace parajoule::nn
