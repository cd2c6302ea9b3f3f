// Any bytes may be decoded, in part and at any scale: they are refused by an error, or become
// pixels.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/seed.h"
#include "data/crop.h"
#include "data/picture_file.h"
#include "data/resize.h"

namespace {

using namespace parajoule;

/// What it takes to decode a larger picture is time, of which a fuzzer has little.
constexpr std::int64_t most_pixels = 1 << 20;

data::Box any_box(const data::PictureFile& picture, base::Stream& stream) {
  data::Box box{.left = int(stream.below(std::uint64_t(picture.width()))),
                .top = int(stream.below(std::uint64_t(picture.height())))};
  box.width = 1 + int(stream.below(std::uint64_t(picture.width() - box.left)));
  box.height = 1 + int(stream.below(std::uint64_t(picture.height() - box.top)));
  return box;
}

void show(std::span<const std::uint8_t> bytes) {
  const auto picture = data::open_picture(bytes);
  if (std::int64_t(picture->width()) * picture->height() > most_pixels) return;
  base::Stream stream{bytes.size(), bytes.back()};
  const data::Normalisation as_is{.channels = {{}, {}, {}}};
  data::PixelMemory pixels;
  std::vector<float> row;
  std::vector<float> out(16 * 16 * 3);
  const data::Window window = data::resized(any_box(*picture, stream), 16, 16);
  const int shrink = picture->shrinks() ? 1 << stream.below(4) : 1;
  const data::Part part = picture->decode(data::seen(window), shrink, pixels);
  data::resize(part, window, row, {out, data::Axes::channels_first, as_is});
  for (const float value : out)
    base::ensure(value > -0.01f && value < 255.01f, "a mean of pixels is one itself");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  try {
    show({bytes, count});
  } catch (const base::Error& error) {
    if (error.fault != base::Fault::input) throw;
  }
  return 0;
}
