#include "data/stored.h"

#include <utility>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::data {

namespace {

/// Where the picture's corner lies in the crop, and whether it is mirrored.
struct Shift {
  std::int64_t down = 0;
  std::int64_t right = 0;
  bool mirrored = false;
};

// All are drawn whatever is wanted, so that one option does not change what another draws.
Shift drawn(const View& view, std::int64_t index, std::int64_t padding) {
  if (!view.augmented) return {};
  base::Stream stream = base::stream(view.augmented->seed, base::Purpose::augmentation,
                                     std::uint64_t(view.augmented->epoch), std::uint64_t(index));
  const std::uint64_t places = 2 * std::uint64_t(padding) + 1;
  Shift shift;
  shift.down = std::int64_t(stream.below(places)) - padding;
  shift.right = std::int64_t(stream.below(places)) - padding;
  shift.mirrored = stream.uniform() < 0.5;
  return shift;
}

/// One channel (H,W) into `out`, whose pixels lie `stride` floats apart.
struct Plane {
  std::span<const std::uint8_t> pixels;
  std::int64_t height;
  std::int64_t width;
  const std::array<float, 256>& table;
};

void write(const Plane& plane, const Shift& shift, float* out, std::int64_t stride) {
  for (std::int64_t y = 0; y < plane.height; ++y) {
    const std::int64_t row = y - shift.down;
    const bool inside = row >= 0 && row < plane.height;
    for (std::int64_t x = 0; x < plane.width; ++x) {
      const std::int64_t column = (shift.mirrored ? plane.width - 1 - x : x) - shift.right;
      const bool seen = inside && column >= 0 && column < plane.width;
      *out = plane.table[seen ? plane.pixels[std::size_t(row * plane.width + column)] : 0];
      out += stride;
    }
  }
}

}  // namespace

Stored::Looks Stored::Looks::of(std::string_view data_set, const base::Settings& settings,
                                std::int64_t channels) {
  return {.normalisation = Normalisation::of(data_set, settings, channels),
          .random_crop = settings.whole("random_crop"),
          .flip = settings.flag("flip")};
}

Stored::Stored(Content content, const Looks& looks)
    : content_(std::move(content)), random_crop_(looks.random_crop), flip_(looks.flip) {
  base::ensure(content_.pixels.size() == content_.labels.size() * content_.shape.count(),
               "each stored picture has its label");
  for (const Normalisation::Channel& channel : looks.normalisation.channels)
    tables_.push_back(channel.table());
}

std::int64_t Stored::label(std::int64_t index) const {
  base::ensure(0 <= index && index < size(), "a sample lies in its data set");
  return content_.labels[std::size_t(index)];
}

std::span<const std::uint8_t> Stored::pixels(std::int64_t index) const {
  const std::size_t count = content_.shape.count();
  return std::span(content_.pixels).subspan(std::size_t(index) * count, count);
}

Sample Stored::read(std::int64_t index, const View& view, std::span<float> out) const {
  const Sample sample{.label = label(index)};
  const auto [channels, height, width] = content_.shape;
  const std::size_t plane = std::size_t(height * width);
  base::ensure(out.size() == content_.shape.count(), "there is room for one sample");
  Shift shift = drawn(view, index, random_crop_);
  shift.mirrored = shift.mirrored && flip_;
  const bool first = view.axes == Axes::channels_first;
  for (std::size_t c = 0; c < std::size_t(channels); ++c)
    write({pixels(index).subspan(c * plane, plane), height, width, tables_[c]}, shift,
          out.data() + (first ? c * plane : c), first ? 1 : channels);
  return sample;
}

Picture Stored::picture(std::int64_t index) const {
  label(index);
  const auto [channels, height, width] = content_.shape;
  Picture picture{.height = int(height), .width = int(width), .channels = int(channels)};
  picture.pixels.resize(content_.shape.count());
  const std::span<const std::uint8_t> from = pixels(index);
  const std::size_t plane = std::size_t(height * width);
  for (std::size_t c = 0; c < std::size_t(channels); ++c)
    for (std::size_t i = 0; i < plane; ++i)
      picture.pixels[i * std::size_t(channels) + c] = from[c * plane + i];
  return picture;
}

std::vector<base::Option> looks_options(const LooksDefaults& defaults) {
  using Kind = base::Option::Kind;
  return {
      {.name = "mean",
       .kind = Kind::numbers,
       .fallback = defaults.mean,
       .help = "subtracted from each channel, of pixels from 0 to 1"},
      {.name = "deviation",
       .kind = Kind::numbers,
       .fallback = defaults.deviation,
       .help = "each channel is divided by it, of pixels from 0 to 1"},
      {.name = "random_crop",
       .kind = Kind::whole,
       .fallback = defaults.random_crop,
       .help = "in training, black pixels added on each side before a crop of the picture's size; "
               "0: no crop",
       .least = 0,
       .most = 64},
      {.name = "flip",
       .kind = Kind::flag,
       .fallback = defaults.flip,
       .help = "in training, mirror half of the pictures left to right"},
  };
}

}  // namespace parajoule::data
