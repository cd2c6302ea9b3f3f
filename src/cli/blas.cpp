#include "cli/blas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "cli/fields.h"

namespace parajoule::cli {
namespace {

// OpenBLAS's x86-64 kernels that use nothing newer than SSE4.
constexpr std::array<std::string_view, 13> sse_kernels = {
    "Prescott", "Core2",   "Penryn",       "Dunnington", "Nehalem", "Atom",   "Nano",
    "Athlon",   "Opteron", "Opteron_SSE3", "Barcelona",  "Bobcat",  "Generic"};

}  // namespace

std::string written(const BackendFacts& facts) {
  Fields fields;
  fields.put("libtorch", facts.torch);
  fields.put("blas", facts.blas);
  fields.put("kernel", facts.kernel);
  return fields.written();
}

BackendFacts backend_facts_in(std::string_view text) {
  const Fields fields = Fields::parse(text);
  return {.torch = fields.text("libtorch").value_or("unknown"),
          .blas = fields.text("blas").value_or("unknown"),
          .kernel = fields.text("kernel").value_or("unknown")};
}

std::optional<BetterKernel> better_kernel(const Blas& blas, const Environment& environment) {
  constexpr std::string_view variable = "OPENBLAS_CORETYPE";
  if (!blas.avx2 || environment(variable)) return {};
  const bool slow = std::ranges::any_of(sse_kernels, [&](std::string_view kernel) {
    return std::ranges::equal(kernel, blas.kernel,
                              [](char a, char b) { return std::tolower(a) == std::tolower(b); });
  });
  if (!slow) return {};
  return BetterKernel{.variable = std::string(variable),
                      .value = "Haswell",
                      .reason = fmt::format("{}=Haswell set: OpenBLAS chose {}, but there is AVX2",
                                            variable, blas.kernel)};
}

}  // namespace parajoule::cli
