#include "data/picture_file.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "data/jpeg.h"
#include "data/png.h"

namespace parajoule::data {

namespace {

using namespace std::string_view_literals;

bool begins(std::span<const std::uint8_t> bytes, std::string_view with, std::size_t at = 0) {
  return bytes.size() >= at + with.size() &&
         std::equal(with.begin(), with.end(), bytes.begin() + std::ptrdiff_t(at),
                    [](char a, std::uint8_t b) { return std::uint8_t(a) == b; });
}

std::string_view format_of(std::span<const std::uint8_t> bytes) {
  if (begins(bytes, "GIF8")) return "a GIF";
  if (begins(bytes, "BM")) return "a BMP";
  if (begins(bytes, "RIFF") && begins(bytes, "WEBP", 8)) return "a WebP";
  if (begins(bytes, "II*\0"sv) || begins(bytes, "MM\0*"sv)) return "a TIFF";
  if (begins(bytes, "ftyp", 4)) return "an AVIF, HEIF or video";
  if (begins(bytes, "\xff\x0a") || begins(bytes, "JXL ", 4)) return "a JPEG XL";
  return "no picture of a known format";
}

}  // namespace

std::span<std::uint8_t> PixelMemory::room(std::size_t count) {
  if (count > capacity_) {
    bytes_.reset();
    capacity_ = 0;
    bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(count);
    capacity_ = count;
  }
  return {bytes_.get(), count};
}

std::unique_ptr<PictureFile> open_picture(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) throw base::Error(base::Fault::input, "an empty file");
  if (begins(bytes, "\xff\xd8\xff")) return std::make_unique<Jpeg>(bytes);
  if (begins(bytes, "\x89PNG\r\n\x1a\n")) return std::make_unique<Png>(bytes);
  throw base::Error(base::Fault::input,
                    fmt::format("{}; only JPEG and PNG are read", format_of(bytes)));
}

void check_extent(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1)
    throw base::Error(base::Fault::input, fmt::format("has {} x {} pixels", width, height));
  if (width > most_pixels / height)
    throw base::Error(base::Fault::input, fmt::format("its header claims {} x {} pixels; more than "
                                                      "{} million are refused",
                                                      width, height, most_pixels / 1'000'000));
}

}  // namespace parajoule::data
