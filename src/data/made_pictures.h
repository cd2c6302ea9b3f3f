#pragma once

// Pictures and files that the tests make for themselves.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace parajoule::data::made {

using Bytes = std::vector<std::uint8_t>;

/// A folder that is gone when the test is over.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Makes the folders on the way.
void write(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
void write(const std::filesystem::path& path, std::string_view text);
Bytes gzipped(std::span<const std::uint8_t> bytes);
Bytes idx(const std::vector<std::uint32_t>& shape, std::span<const std::uint8_t> values,
          std::uint8_t type = 8);

/// Waves of all lengths, the longer the stronger, as in photographs; the colours vary less than the
/// brightness. Equal seeds give equal pictures.
Picture photograph(int width, int height, std::uint64_t seed = 1);

/// One colour.
Picture plain(int width, int height, std::vector<std::uint8_t> colour);

enum class Colours { rgb, ycc, grey, cmyk, adobe_cmyk, adobe_ycck };

struct JpegWishes {
  Colours colours = Colours::ycc;
  int across = 1;  ///< pixels to a sample of the second and third colour, each way
  int down = 1;
  bool progressive = false;
  int quality = 95;
  std::uint8_t orientation = 0;  ///< of an EXIF header; 0: none
};
/// Inks of a picture are taken for 255 - red, green, blue and a black of `black`.
Bytes jpeg(const Picture& picture, const JpegWishes& wishes = {}, std::uint8_t black = 0);

enum class PngKind { grey, grey_alpha, palette, rgb, rgb_alpha, rgb_16, grey_16, rgb_interlaced };
Bytes png(const Picture& picture, PngKind kind = PngKind::rgb);

}  // namespace parajoule::data::made
