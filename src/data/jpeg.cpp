#include "data/jpeg.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
// libjpeg's numbers of messages.
#include <jerror.h>

#include "base/error.h"

namespace parajoule::data {

namespace {

/// A progressive file may ask for any number of scans over the whole picture; real ones have ten.
constexpr int most_scans = 200;

/// Columns beside the wanted ones, so that smoothed colours at their edge are those of the whole
/// picture, also where a colour is stored at a quarter of the width.
constexpr int margin = 8;

constexpr int rows_a_call = 4;

/// Red, green, blue of one row of cyan, magenta, yellow, black; `ink` of a stored value is 0 ...
/// 255.
template <class Ink>
void mix(const std::uint8_t* inks, std::uint8_t* pixels, int width, Ink ink) {
  for (int x = 0; x < width; ++x) {
    const int paper = 255 - ink(inks[4 * x + 3]);
    for (int c = 0; c < 3; ++c)
      pixels[3 * x + c] = std::uint8_t(((255 - ink(inks[4 * x + c])) * paper + 127) / 255);
  }
}

}  // namespace

template <class Call>
void Jpeg::guarded(Call call) {
  if (setjmp(trouble_.back) != 0) throw base::Error(base::Fault::input, trouble_.message);
  call();
}

void Jpeg::jump(j_common_ptr decoder, const char* message) {
  auto& trouble = static_cast<Trouble&>(*decoder->err);
  std::snprintf(trouble.message, sizeof trouble.message, "%s", message);
  std::longjmp(trouble.back, 1);
}

void Jpeg::on_error(j_common_ptr decoder) {
  char message[JMSG_LENGTH_MAX];
  decoder->err->format_message(decoder, message);
  jump(decoder, message);
}

void Jpeg::on_message(j_common_ptr decoder, int level) {
  if (level >= 0) return;
  if (decoder->err->msg_code == JWRN_JPEG_EOF) jump(decoder, "cut short");
  ++decoder->err->num_warnings;
}

void Jpeg::on_progress(j_common_ptr decoder) {
  if (reinterpret_cast<j_decompress_ptr>(decoder)->input_scan_number > most_scans)
    jump(decoder, "more than 200 scans");
}

Jpeg::Jpeg(std::span<const std::uint8_t> bytes) {
  decoder_.err = jpeg_std_error(&trouble_);
  trouble_.error_exit = on_error;
  trouble_.emit_message = on_message;
  progress_.progress_monitor = on_progress;
  guarded([&] { jpeg_create_decompress(&decoder_); });
  try {
    read_header(bytes);
  } catch (...) {
    jpeg_destroy_decompress(&decoder_);
    throw;
  }
}

Jpeg::~Jpeg() { jpeg_destroy_decompress(&decoder_); }

void Jpeg::read_header(std::span<const std::uint8_t> bytes) {
  guarded([&] {
    decoder_.progress = &progress_;
    jpeg_mem_src(&decoder_, bytes.data(), bytes.size());
    jpeg_read_header(&decoder_, TRUE);
  });
  check_extent(width(), height());
}

Part Jpeg::decode(const Box& box, int shrink, PixelMemory& memory) {
  decoder_.scale_num = 1;
  decoder_.scale_denom = unsigned(shrink);
  const bool inks = decoder_.jpeg_color_space == JCS_CMYK || decoder_.jpeg_color_space == JCS_YCCK;
  decoder_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  const Box part = start({.left = box.left / shrink,
                          .top = box.top / shrink,
                          .width = (box.right() + shrink - 1) / shrink - box.left / shrink,
                          .height = (box.bottom() + shrink - 1) / shrink - box.top / shrink});
  const std::size_t count = std::size_t(part.width) * std::size_t(part.height) * 3;
  const std::span<std::uint8_t> room =
      memory.room(count + 16 + (inks ? std::size_t(part.width) * 4 : 0));
  if (inks)
    read_inks(part, room.data() + count + 16, room.data());
  else
    read_rows(part, room.data());
  return {.box = part,
          .shrink = shrink,
          .pixels = room.first(count + 16),
          .warnings = int(trouble_.num_warnings)};
}

// Begins to decode, all columns of `wanted` and some beside them. libjpeg-turbo 2.1.5 counts too
// few columns of a colour that is stored at a quarter of the width or height when it also makes the
// picture smaller.
Box Jpeg::start(const Box& wanted) {
  const bool quarters = decoder_.max_h_samp_factor > 2 || decoder_.max_v_samp_factor > 2;
  const bool crops = decoder_.scale_denom == 1 || !quarters;
  const unsigned right = crops ? unsigned(wanted.right() + margin) : ~0u;
  unsigned left = crops ? unsigned(std::max(0, wanted.left - margin)) : 0;
  unsigned width = 0;
  guarded([&] {
    jpeg_start_decompress(&decoder_);
    width = std::min(decoder_.output_width, right) - left;
    if (width < decoder_.output_width) jpeg_crop_scanline(&decoder_, &left, &width);
    jpeg_skip_scanlines(&decoder_, unsigned(wanted.top));
  });
  return {.left = int(left), .top = wanted.top, .width = int(width), .height = wanted.height};
}

void Jpeg::read_rows(const Box& box, std::uint8_t* pixels) {
  const std::size_t stride = std::size_t(box.width) * 3;
  guarded([&] {
    while (int(decoder_.output_scanline) < box.bottom()) {
      const int row = int(decoder_.output_scanline) - box.top;
      JSAMPROW rows[rows_a_call];
      for (int i = 0; i < rows_a_call; ++i) rows[i] = pixels + std::size_t(row + i) * stride;
      jpeg_read_scanlines(&decoder_, rows, unsigned(std::min(rows_a_call, box.height - row)));
    }
  });
}

// Adobe's programs store how much ink is left away, and say by their marker that they did.
void Jpeg::read_inks(const Box& box, std::uint8_t* inks, std::uint8_t* pixels) {
  guarded([&] {
    for (int y = 0; y < box.height; ++y) {
      jpeg_read_scanlines(&decoder_, &inks, 1);
      std::uint8_t* row = pixels + std::size_t(y) * std::size_t(box.width) * 3;
      if (decoder_.saw_Adobe_marker)
        mix(inks, row, box.width, [](int stored) { return 255 - stored; });
      else
        mix(inks, row, box.width, [](int stored) { return stored; });
    }
  });
}

}  // namespace parajoule::data
