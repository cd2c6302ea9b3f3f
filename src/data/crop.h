#pragma once

// Which part of a picture a sample shows.

#include "base/seed.h"
#include "data/resize.h"

namespace parajoule::data {

/// A random part of a picture: area a fraction of the picture's, uniform in [least_scale,
/// most_scale]; width to height log-uniform in [least_ratio, most_ratio]; any place. (C. Szegedy et
/// al., "Going Deeper with Convolutions", CVPR 2015, section 6.) What does not fit is drawn again,
/// ten times; then the largest central part whose ratio is allowed is taken, as torchvision does.
struct RandomCrop {
  double least_scale = 0.08;
  double most_scale = 1;
  double least_ratio = 3.0 / 4;
  double most_ratio = 4.0 / 3;
};
Box random_crop(int width, int height, const RandomCrop& crop, base::Stream& stream);

/// The central square of `size` pixels of the picture made so large that its shorter side has
/// `shorter_side` pixels, at least `size`.
Window central(int width, int height, int shorter_side, int size);

}  // namespace parajoule::data
