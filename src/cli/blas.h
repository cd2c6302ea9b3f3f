#pragma once

// Which kernel OpenBLAS has chosen, and whether this processor deserves a better one.

#include <optional>
#include <string>
#include <string_view>

#include "cli/surroundings.h"

namespace parajoule::cli {

struct Blas {
  std::string kernel;  ///< as OpenBLAS calls it
  bool avx2 = false;   ///< this processor has it
};

struct BetterKernel {
  std::string variable;
  std::string value;
  std::string reason;  ///< one line for a person
};

/// What parajoule-train computes with, as it tells `parajoule doctor`.
struct BackendFacts {
  std::string torch;   ///< version of libtorch
  std::string blas;    ///< `OpenBLAS 0.3.21`, or `unknown`
  std::string kernel;  ///< processor whose kernels run, or `unknown`
};

/// As `parajoule-train --backend` prints them, and back; what is missing is `unknown`.
std::string written(const BackendFacts& facts);
BackendFacts backend_facts_in(std::string_view text);

/// OpenBLAS 0.3.21 takes an SSE kernel, several times slower, on processors it does not know. Then,
/// and unless the person has chosen a kernel, the best one that AVX2 alone allows.
std::optional<BetterKernel> better_kernel(const Blas& blas, const Environment& environment);

}  // namespace parajoule::cli
