#pragma once

// A data set: numbered samples, each a picture with a label. What a sample looks like depends on
// (seed, epoch, index) alone, never on ranks or threads.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace parajoule::data {

/// Of one sample.
struct Shape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::size_t count() const { return std::size_t(channels * height * width); }
  bool operator==(const Shape&) const = default;
};

/// How a sample lies in memory: (C,H,W) or (H,W,C).
enum class Axes { channels_first, channels_last };

/// How samples are looked at: always the same way, or augmented by chance.
struct View {
  struct Chance {
    std::uint64_t seed = 0;
    std::int64_t epoch = 0;
  };
  std::optional<Chance> augmented = {};  ///< none: as in evaluation
  Axes axes = Axes::channels_first;

  static View evaluation() { return {}; }
  /// Drawn from base::stream(seed, Purpose::augmentation, epoch, index).
  static View training(std::uint64_t seed, std::int64_t epoch) {
    return {.augmented = {{seed, epoch}}};
  }
};

/// What reading one sample told beside its picture.
struct Sample {
  std::int64_t label = 0;
  int warnings = 0;  ///< damage that the decoder mended
};

/// 8-bit pixels (H,W,C), 0 black ... 255.
struct Picture {
  int height = 0;
  int width = 0;
  int channels = 0;
  std::vector<std::uint8_t> pixels = {};
  int warnings = 0;  ///< damage that the decoder mended
};

/// Reading is const and may be done by many threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  virtual Shape shape() const = 0;
  virtual const std::vector<std::string>& class_names() const = 0;
  std::int64_t classes() const { return std::int64_t(class_names().size()); }

  /// Without reading the picture.
  virtual std::int64_t label(std::int64_t index) const = 0;

  /// Writes the normalised picture, shape().count() floats, to `out`. Throws Error{input} that
  /// names the file if the picture cannot be decoded, as far as this view needs it;
  /// Error{environment} if the machine is at fault.
  virtual Sample read(std::int64_t index, const View& view, std::span<float> out) const = 0;

  /// The whole picture as stored, neither augmented nor resized. Throws as `read` does.
  virtual Picture picture(std::int64_t index) const = 0;
};

}  // namespace parajoule::data
