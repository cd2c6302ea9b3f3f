#include "nn/precision.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "nn/torch_versions.h"

namespace parajoule::nn {

namespace {

constexpr std::array<std::string_view, 4> names = {"float64", "float32", "bfloat16", "float16"};

Precision named(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return Precision(i);
  }
  throw base::Error(base::Fault::usage,
                    fmt::format("precision = {} is not known{}", name, base::hint(name, names)));
}

/// Without these instructions libtorch computes each product in bfloat16 one by one.
bool multiplies_bfloat16() {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

[[noreturn]] void refuse(std::string_view name, std::string_view why) {
  throw base::Error(base::Fault::usage, fmt::format("precision = {}: {}", name, why));
}

at::ScalarType type_of(Precision precision) {
  return precision == Precision::float16 ? at::kHalf : at::kBFloat16;
}

}  // namespace

Precision precision(std::string_view name) {
  const Precision wanted = named(name);
  if (wanted == Precision::float16 && !torch_versions::lowers_to_half) {
    refuse(name, "libtorch " TORCH_VERSION
                 " has no float16 products for processors; use bfloat16, or libtorch 2.7 or later");
  }
  if (wanted == Precision::bfloat16 && !multiplies_bfloat16()) {
    refuse(name,
           "this processor has no AVX-512 (bw, vl, dq), without which libtorch computes "
           "bfloat16 much slower than float32; use float32");
  }
  return wanted;
}

base::Element element_of(Precision precision) {
  return precision == Precision::float64 ? base::Element::float64 : base::Element::float32;
}

Lowered::Lowered(Precision precision)
    : lowers_(precision == Precision::bfloat16 || precision == Precision::float16) {
  if (!lowers_) return;
  base::ensure(!torch_versions::lowered(), "precision is lowered once");
  torch_versions::lower_to(type_of(precision));
  torch_versions::lower(true);
}

Lowered::~Lowered() {
  if (!lowers_) return;
  torch_versions::lower(false);
  at::autocast::clear_cache();
}

}  // namespace parajoule::nn
