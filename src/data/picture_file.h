#pragma once

// A picture as files hold it: told by its first bytes, never by its name, and decoded in part.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace parajoule::data {

/// Pixels left ... left + width - 1 of rows top ... top + height - 1.
struct Box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  int right() const { return left + width; }
  int bottom() const { return top + height; }
  bool operator==(const Box&) const = default;
};

/// Memory for pixels that is used for one picture after the other.
class PixelMemory {
 public:
  /// Room for `count` bytes of any content; what was given out before is lost.
  std::span<std::uint8_t> room(std::size_t count);

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t capacity_ = 0;
};

/// A decoded part of a picture: 8-bit red, green, blue, row by row without gaps. 16 more bytes
/// behind them may be read.
struct Part {
  Box box;         ///< in pixels of the picture made smaller
  int shrink = 1;  ///< pixels of the picture to one of these, each way
  std::span<const std::uint8_t> pixels = {};
  int warnings = 0;  ///< damage that the decoder mended
};

/// Grey becomes red = green = blue; transparency is dropped; 16 bits are rounded to 8; CMYK and
/// YCCK become RGB by (1 - ink) (1 - black), whichever way round the file stores ink. The
/// orientation an EXIF header wishes for and colour profiles are ignored, as torchvision's image
/// folders do.
class PictureFile {
 public:
  virtual ~PictureFile() = default;
  virtual int width() const = 0;
  virtual int height() const = 0;

  /// Whether `decode` can make the picture that many times smaller on the way.
  virtual bool shrinks() const = 0;

  /// At least `box` (in pixels of the whole picture), made `shrink` (1, 2, 4, 8) times smaller. May
  /// be called once. Throws Error{input}: what is damaged, without the file's name.
  virtual Part decode(const Box& box, int shrink, PixelMemory& memory) = 0;
};

/// Pictures of more pixels are refused: they would be no training data but an attack or a mishap.
constexpr std::int64_t most_pixels = 100'000'000;

/// JPEG or PNG. `bytes` must outlive what is returned. Throws Error{input} that says what the bytes
/// are instead, without the file's name.
std::unique_ptr<PictureFile> open_picture(std::span<const std::uint8_t> bytes);

/// Throws Error{input} unless there is at least one pixel and at most `most_pixels`.
void check_extent(std::int64_t width, std::int64_t height);

}  // namespace parajoule::data
