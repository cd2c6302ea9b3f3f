#pragma once

// From 8-bit pixels to numbers around zero.

#include <array>
#include <string_view>
#include <vector>

#include "base/settings.h"

namespace parajoule::data {

/// x -> (x / 255 - mean) / deviation, as x * scale + shift, for each channel.
struct Normalisation {
  struct Channel {
    float scale = 1;
    float shift = 0;
    /// Of each 8-bit value.
    std::array<float, 256> table() const;
  };
  std::vector<Channel> channels;

  /// Of the options `mean` and `deviation`: one number for all channels, or one a channel. Throws
  /// Error{usage} that names `data_set` and the key.
  static Normalisation of(std::string_view data_set, const base::Settings& settings,
                          std::int64_t channels);
};

}  // namespace parajoule::data
