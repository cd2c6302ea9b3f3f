#include "cli/batches.h"

#include <string>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

constexpr std::int64_t usual_local = 64;

std::string counted(std::int64_t training) {
  return fmt::format("{} rank{} that train{}", training, training == 1 ? "" : "s",
                     training == 1 ? "s" : "");
}

/// The multiples of `training` around `global`.
std::string neighbours(std::int64_t global, std::int64_t training) {
  const std::int64_t below = global / training * training;
  if (below == 0) return fmt::format("{}", training);
  return fmt::format("{} or {}", below, below + training);
}

}  // namespace

BatchSizes resolve_batches(const WishedBatches& wished, std::int64_t training) {
  if (!wished.global) {
    const std::int64_t local = wished.local.value_or(usual_local);
    return {.local = local, .global = local * training};
  }
  const std::int64_t global = *wished.global;
  if (wished.local && *wished.local * training != global) {
    throw base::Error(
        base::Fault::usage,
        fmt::format("global_batch_size = {}: local_batch_size = {} on {} makes {}; "
                    "leave one of the two out",
                    global, *wished.local, counted(training), *wished.local * training));
  }
  if (global % training != 0) {
    throw base::Error(base::Fault::usage,
                      fmt::format("global_batch_size = {}: {} do not divide it; take {}, or "
                                  "another number of ranks",
                                  global, counted(training), neighbours(global, training)));
  }
  return {.local = global / training, .global = global};
}

}  // namespace parajoule::cli
