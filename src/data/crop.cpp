#include "data/crop.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace parajoule::data {

namespace {

constexpr int draws = 10;

Box centred(int width, int height, int inner_width, int inner_height) {
  return {.left = (width - inner_width) / 2,
          .top = (height - inner_height) / 2,
          .width = inner_width,
          .height = inner_height};
}

int rounded(double pixels) { return std::max(1, int(std::lround(pixels))); }

/// `size` pixels in the middle of an axis of `extent` pixels that is resized to `resized`.
Axis middle(int extent, std::int64_t resized, int size) {
  const double step = double(extent) / double(resized);
  const double skipped = std::nearbyint(double(resized - size) / 2);
  return {.begin = skipped * step, .step = step, .size = size, .first = 0, .last = extent};
}

}  // namespace

Box random_crop(int width, int height, const RandomCrop& crop, base::Stream& stream) {
  for (int draw = 0; draw < draws; ++draw) {
    const double area = double(width) * height * stream.uniform(crop.least_scale, crop.most_scale);
    const double ratio =
        std::exp(stream.uniform(std::log(crop.least_ratio), std::log(crop.most_ratio)));
    const double across = std::sqrt(area * ratio);
    const double down = std::sqrt(area / ratio);
    if (across >= width + 0.5 || down >= height + 0.5) continue;
    const int inner_width = rounded(across);
    const int inner_height = rounded(down);
    return {.left = int(stream.below(std::uint64_t(width - inner_width) + 1)),
            .top = int(stream.below(std::uint64_t(height - inner_height) + 1)),
            .width = inner_width,
            .height = inner_height};
  }
  const double ratio = double(width) / height;
  if (ratio < crop.least_ratio)
    return centred(width, height, width, std::min(height, rounded(width / crop.least_ratio)));
  if (ratio > crop.most_ratio)
    return centred(width, height, std::min(width, rounded(height * crop.most_ratio)), height);
  return centred(width, height, width, height);
}

Window central(int width, int height, int shorter_side, int size) {
  const int shorter = std::min(width, height);
  const auto scaled = [&](int side) { return std::int64_t(shorter_side) * side / shorter; };
  return {.rows = middle(height, scaled(height), size),
          .columns = middle(width, scaled(width), size)};
}

}  // namespace parajoule::data
