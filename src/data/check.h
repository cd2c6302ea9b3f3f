#pragma once

// Looks at every sample of a data set once, so that damage is found before training is.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace parajoule::data {

struct Checked {
  struct Finding {
    std::int64_t index = 0;
    std::string what;  ///< names the file
  };
  std::int64_t samples = 0;
  std::vector<Finding> bad;           ///< cannot be decoded, by index
  std::vector<std::int64_t> damaged;  ///< samples that decode, with warnings, by index
};

/// Decodes all pictures in full on `threads` threads. `seen` is called now and then with the number
/// of samples looked at so far, from one thread at a time. Throws what is the machine's fault.
Checked check(
    const Dataset& dataset, int threads = 1,
    const std::function<void(std::int64_t)>& seen = [](std::int64_t) {});

}  // namespace parajoule::data
