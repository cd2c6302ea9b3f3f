#pragma once

// Writes a data set as a folder of JPEG pictures, so that what is read from such folders can be
// tried on any data set.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace parajoule::data {

struct Written {
  int quality = 95;                          ///< of the JPEGs, 1 ... 100
  std::optional<std::int64_t> samples = {};  ///< the first so many; all if unset
  /// Called now and then with the number of pictures written so far.
  std::function<void(std::int64_t)> seen = [](std::int64_t) {};
};

/// FOLDER/CLASS/INDEX.jpg; CLASS is the number of the class and its name, so that classes keep
/// their numbers. Returns how many were written. Throws Error{usage} if `folder` holds something
/// already, Error{environment} if it cannot be written.
std::int64_t write_image_folder(const Dataset& dataset, const std::filesystem::path& folder,
                                const Written& wanted = {});

/// A baseline JPEG of one or three channels.
std::vector<std::uint8_t> to_jpeg(const Picture& picture, int quality);

}  // namespace parajoule::data
