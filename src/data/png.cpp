#include "data/png.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <png.h>

#include "base/error.h"

namespace parajoule::data {

/// libpng leaves its functions by a jump: each call of it lies within `guarded`, which throws.
struct Png::Decoder {
  png_structp png = nullptr;
  png_infop header = nullptr;
  std::span<const std::uint8_t> rest;  // not yet read
  char message[120] = {};
  int warnings = 0;

  ~Decoder() { png_destroy_read_struct(&png, &header, nullptr); }

  template <class Call>
  void guarded(Call call) {
    if (setjmp(png_jmpbuf(png)) != 0) throw base::Error(base::Fault::input, message);
    call();
  }

  static void on_error(png_structp png, png_const_charp message) {
    auto& decoder = *static_cast<Decoder*>(png_get_error_ptr(png));
    std::snprintf(decoder.message, sizeof decoder.message, "%s", message);
    png_longjmp(png, 1);
  }

  static void on_warning(png_structp png, png_const_charp) {
    ++static_cast<Decoder*>(png_get_error_ptr(png))->warnings;
  }

  static void on_read(png_structp png, png_bytep into, std::size_t count) {
    auto& decoder = *static_cast<Decoder*>(png_get_io_ptr(png));
    if (count > decoder.rest.size()) png_error(png, "cut short");
    std::memcpy(into, decoder.rest.data(), count);
    decoder.rest = decoder.rest.subspan(count);
  }

  void read_header() {
    png_set_read_fn(png, this, on_read);
    png_read_info(png, header);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
  }
};

Png::Png(std::span<const std::uint8_t> bytes) : decoder_(std::make_unique<Decoder>()) {
  Decoder& decoder = *decoder_;
  decoder.rest = bytes;
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, Decoder::on_error,
                                       Decoder::on_warning);
  base::ensure(decoder.png, "libpng is the version its header says");
  decoder.header = png_create_info_struct(decoder.png);
  base::ensure(decoder.header, "libpng has memory for a header");
  decoder.guarded([&] { decoder.read_header(); });
  check_extent(png_get_image_width(decoder.png, decoder.header),
               png_get_image_height(decoder.png, decoder.header));
  width_ = int(png_get_image_width(decoder.png, decoder.header));
  height_ = int(png_get_image_height(decoder.png, decoder.header));
}

Png::~Png() = default;

// Whole rows are unpacked from the top on. An interlaced picture is unpacked whole.
Part Png::decode(const Box& box, int shrink, PixelMemory& memory) {
  base::ensure(shrink == 1, "PNG has one scale");
  Decoder& decoder = *decoder_;
  const std::size_t stride = std::size_t(width_) * 3;
  int passes = 1;
  decoder.guarded([&] {
    passes = png_set_interlace_handling(decoder.png);
    png_read_update_info(decoder.png, decoder.header);
  });
  base::ensure(png_get_rowbytes(decoder.png, decoder.header) == stride, "rows are RGB");
  const Box part = passes > 1 ? Box{0, 0, width_, height_} : Box{0, box.top, width_, box.height};
  const std::size_t count = stride * std::size_t(part.height);
  const std::span<std::uint8_t> room = memory.room(count + 16 + stride);
  decoder.guarded([&] {
    for (int y = 0; y < part.top; ++y) png_read_row(decoder.png, room.data() + count + 16, nullptr);
    for (int pass = 0; pass < passes; ++pass)
      for (int y = 0; y < part.height; ++y)
        png_read_row(decoder.png, room.data() + std::size_t(y) * stride, nullptr);
  });
  return {.box = part, .pixels = room.first(count + 16), .warnings = decoder.warnings};
}

}  // namespace parajoule::data
