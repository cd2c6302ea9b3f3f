#pragma once

// Local and global batch size: one gives the other, and both must agree.

#include <cstdint>
#include <optional>

namespace parajoule::cli {

struct BatchSizes {
  std::int64_t local = 0;   ///< samples one rank takes in a step
  std::int64_t global = 0;  ///< samples of one update over all ranks
};

struct WishedBatches {
  std::optional<std::int64_t> local;
  std::optional<std::int64_t> global;
};

/// `training`: the ranks that train. Throws Error{usage} that names key, value, and the sizes or
/// ranks that would do.
BatchSizes resolve_batches(const WishedBatches& wished, std::int64_t training);

}  // namespace parajoule::cli
