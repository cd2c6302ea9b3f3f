#pragma once

// Antialiased bilinear resizing, as PIL does it: each output pixel is the mean of the input pixels
// under a triangle twice as wide as the scale (at least two pixels), around its own centre.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/normalise.h"
#include "data/picture_file.h"

namespace parajoule::data {

/// How one axis of a picture is seen, in pixels of the whole picture: output pixel k of `size`
/// shows begin + k * step ... begin + (k + 1) * step. Pixels outside first ... last - 1 are not
/// looked at.
struct Axis {
  double begin = 0;
  double step = 1;
  int size = 0;
  int first = 0;
  int last = 0;
};

/// What part of a picture a sample shows. Mirrored: left and right changed over.
struct Window {
  Axis rows;
  Axis columns;
  bool mirrored = false;
};

/// `box`, and nothing around it, resized to height x width.
Window resized(const Box& box, int height, int width);

/// The pixels that `window` looks at.
Box seen(const Window& window);

/// How much smaller (1, 2, 4, 8) a decoder may make the picture on the way so that what `resize`
/// makes of it differs from the whole picture's by less than 1/255 on average.
int shrink_for(const Window& window);

/// The weights of the input pixels in each output pixel of an axis, on pixels `shrink` times
/// larger.
class Taps {
 public:
  Taps(const Axis& axis, int shrink);

  struct Tap {
    int first = 0;                   ///< input pixel
    std::span<const float> weights;  ///< of it and those that follow; their sum is 1
  };
  Tap operator[](int output) const;
  int size() const { return int(firsts_.size()); }
  void reverse();

 private:
  std::size_t most_;  // weights of one output pixel, at most
  std::vector<int> firsts_;
  std::vector<int> counts_;
  std::vector<float> weights_;  // most_ an output pixel
};

/// Where and how a resized picture is written: three normalised channels.
struct Canvas {
  std::span<float> out;
  Axes axes = Axes::channels_first;
  const Normalisation& normalisation;
};

/// `part` holds all pixels that `window` looks at. `row` is memory used again and again.
void resize(const Part& part, const Window& window, std::vector<float>& row, const Canvas& canvas);

}  // namespace parajoule::data
