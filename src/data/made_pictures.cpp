#include "data/made_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <stdexcept>

// needs size_t and FILE
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include "base/seed.h"

namespace parajoule::data::made {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "parajoule_data_XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

void write(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write(const std::filesystem::path& path, std::string_view text) {
  write(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Bytes gzipped(std::span<const std::uint8_t> bytes) {
  z_stream stream = {};
  constexpr int with_gzip_header = 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + with_gzip_header, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::runtime_error("deflate");
  Bytes packed(deflateBound(&stream, bytes.size()) + 64);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = unsigned(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = unsigned(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Bytes idx(const std::vector<std::uint32_t>& shape, std::span<const std::uint8_t> values,
          std::uint8_t type) {
  Bytes bytes = {0, 0, type, std::uint8_t(shape.size())};
  for (const std::uint32_t extent : shape)
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(std::uint8_t(extent >> shift));
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

namespace {

struct Wave {
  std::vector<double> sine;
  std::vector<double> cosine;
  /// Of `count` pixels, `turn` radians each, from `phase` on.
  Wave(int count, double turn, double phase) {
    for (int i = 0; i < count; ++i) {
      sine.push_back(std::sin(turn * i + phase));
      cosine.push_back(std::cos(turn * i + phase));
    }
  }
};

// sin(a + b) = sin a cos b + cos a sin b
void add(std::vector<double>& values, const Wave& across, const Wave& down,
         const std::array<double, 3>& strengths) {
  std::size_t i = 0;
  for (std::size_t y = 0; y < down.sine.size(); ++y)
    for (std::size_t x = 0; x < across.sine.size(); ++x) {
      const double wave = across.sine[x] * down.cosine[y] + across.cosine[x] * down.sine[y];
      for (const double strength : strengths) values[i++] += strength * wave;
    }
}

}  // namespace

Picture photograph(int width, int height, std::uint64_t seed) {
  base::Stream stream{seed};
  Picture picture{.height = height, .width = width, .channels = 3};
  std::vector<double> values(std::size_t(width) * std::size_t(height) * 3, 127.5);
  const double side = std::max(width, height);
  for (double length = 4 * side; length > 2.2; length /= 1.25) {
    const double angle = stream.uniform(0, 2 * std::numbers::pi);
    const double turn = 2 * std::numbers::pi / length;
    const double strength = 30 * std::pow(length / side, 0.6);
    add(values, Wave(width, turn * std::cos(angle), stream.uniform(0, 2 * std::numbers::pi)),
        Wave(height, turn * std::sin(angle), 0),
        {strength * stream.uniform(0.7, 1.3), strength * stream.uniform(0.7, 1.3),
         strength * stream.uniform(0.7, 1.3)});
  }
  for (const double value : values)
    picture.pixels.push_back(std::uint8_t(std::clamp(std::lround(value), 0L, 255L)));
  return picture;
}

Picture plain(int width, int height, std::vector<std::uint8_t> colour) {
  Picture picture{.height = height, .width = width, .channels = int(colour.size())};
  for (int i = 0; i < width * height; ++i)
    picture.pixels.insert(picture.pixels.end(), colour.begin(), colour.end());
  return picture;
}

namespace {

bool has_ink(Colours colours) { return colours >= Colours::cmyk; }
bool is_adobe(Colours colours) { return colours >= Colours::adobe_cmyk; }

/// What libjpeg is given of one row.
Bytes row_of(const Picture& picture, int y, Colours colours, std::uint8_t black) {
  const std::uint8_t* from =
      picture.pixels.data() + std::size_t(y) * std::size_t(picture.width * picture.channels);
  if (!has_ink(colours)) return {from, from + picture.width * picture.channels};
  Bytes inks;
  for (int x = 0; x < picture.width; ++x) {
    for (int c = 0; c < 3; ++c) inks.push_back(std::uint8_t(255 - from[3 * x + c]));
    inks.push_back(black);
  }
  if (is_adobe(colours))
    for (std::uint8_t& ink : inks) ink = std::uint8_t(255 - ink);
  return inks;
}

J_COLOR_SPACE stored_as(Colours colours) {
  switch (colours) {
    case Colours::rgb:
      return JCS_RGB;
    case Colours::ycc:
      return JCS_YCbCr;
    case Colours::grey:
      return JCS_GRAYSCALE;
    case Colours::cmyk:
    case Colours::adobe_cmyk:
      return JCS_CMYK;
    default:
      return JCS_YCCK;
  }
}

// The marker that tells a decoder which orientation a viewer should show.
void write_orientation(jpeg_compress_struct& encoder, std::uint8_t orientation) {
  const Bytes exif = {'E',  'x', 'i', 'f', 0, 0, 'I', 'I', 42,          0, 8, 0, 0, 0, 1, 0,
                      0x12, 1,   3,   0,   1, 0, 0,   0,   orientation, 0, 0, 0, 0, 0, 0, 0};
  jpeg_write_marker(&encoder, JPEG_APP0 + 1, exif.data(), unsigned(exif.size()));
}

void choose(jpeg_compress_struct& encoder, const JpegWishes& wishes) {
  jpeg_set_defaults(&encoder);
  jpeg_set_colorspace(&encoder, stored_as(wishes.colours));
  encoder.write_Adobe_marker = is_adobe(wishes.colours) || wishes.colours == Colours::rgb;
  jpeg_set_quality(&encoder, wishes.quality, TRUE);
  encoder.comp_info[0].h_samp_factor = wishes.across;
  encoder.comp_info[0].v_samp_factor = wishes.down;
  if (encoder.num_components == 4) {
    encoder.comp_info[3].h_samp_factor = wishes.across;
    encoder.comp_info[3].v_samp_factor = wishes.down;
  }
  for (int c = 1; c < std::min(3, encoder.num_components); ++c)
    encoder.comp_info[c].h_samp_factor = encoder.comp_info[c].v_samp_factor = 1;
  if (wishes.progressive) jpeg_simple_progression(&encoder);
}

}  // namespace

Bytes jpeg(const Picture& picture, const JpegWishes& wishes, std::uint8_t black) {
  jpeg_compress_struct encoder;
  jpeg_error_mgr errors;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&encoder, &bytes, &count);
  encoder.image_width = unsigned(picture.width);
  encoder.image_height = unsigned(picture.height);
  const bool inks = has_ink(wishes.colours);
  encoder.input_components = inks ? 4 : picture.channels;
  encoder.in_color_space = inks ? JCS_CMYK : picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  choose(encoder, wishes);
  jpeg_start_compress(&encoder, TRUE);
  if (wishes.orientation != 0) write_orientation(encoder, wishes.orientation);
  for (int y = 0; y < picture.height; ++y) {
    Bytes row = row_of(picture, y, wishes.colours, black);
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&encoder, &pointer, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  Bytes copy(bytes, bytes + count);
  std::free(bytes);
  return copy;
}

namespace {

struct PngLayout {
  int colour_type;
  int bits;
  bool interlaced;
};

PngLayout layout_of(PngKind kind) {
  switch (kind) {
    case PngKind::grey:
      return {PNG_COLOR_TYPE_GRAY, 8, false};
    case PngKind::grey_alpha:
      return {PNG_COLOR_TYPE_GRAY_ALPHA, 8, false};
    case PngKind::palette:
      return {PNG_COLOR_TYPE_PALETTE, 8, false};
    case PngKind::rgb:
      return {PNG_COLOR_TYPE_RGB, 8, false};
    case PngKind::rgb_alpha:
      return {PNG_COLOR_TYPE_RGB_ALPHA, 8, false};
    case PngKind::rgb_16:
      return {PNG_COLOR_TYPE_RGB, 16, false};
    case PngKind::grey_16:
      return {PNG_COLOR_TYPE_GRAY, 16, false};
    default:
      return {PNG_COLOR_TYPE_RGB, 8, true};
  }
}

// One pixel: its 8-bit channels as `kind` stores them. Alpha is half; a palette's entry k is grey
// k; the low byte of 16 bits is the high one again.
void append(Bytes& row, const std::uint8_t* pixel, int channels, PngKind kind) {
  for (int c = 0; c < channels; ++c) {
    row.push_back(pixel[c]);
    if (layout_of(kind).bits == 16) row.push_back(pixel[c]);
  }
  if (layout_of(kind).colour_type & PNG_COLOR_MASK_ALPHA) row.push_back(128);
}

}  // namespace

Bytes png(const Picture& picture, PngKind kind) {
  const PngLayout layout = layout_of(kind);
  png_structp encoder = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop header = png_create_info_struct(encoder);
  Bytes bytes;
  png_set_write_fn(
      encoder, &bytes,
      [](png_structp png, png_bytep from, std::size_t count) {
        auto& to = *static_cast<Bytes*>(png_get_io_ptr(png));
        to.insert(to.end(), from, from + count);
      },
      [](png_structp) {});
  png_set_IHDR(encoder, header, unsigned(picture.width), unsigned(picture.height), layout.bits,
               layout.colour_type, layout.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::array<png_color, 256> palette;
  for (std::size_t k = 0; k < palette.size(); ++k)
    palette[k] = {png_byte(k), png_byte(k), png_byte(k)};
  if (kind == PngKind::palette) png_set_PLTE(encoder, header, palette.data(), 256);
  png_write_info(encoder, header);
  const int passes = png_set_interlace_handling(encoder);
  for (int pass = 0; pass < passes; ++pass)
    for (int y = 0; y < picture.height; ++y) {
      Bytes row;
      for (int x = 0; x < picture.width; ++x)
        append(row, &picture.pixels[std::size_t((y * picture.width + x) * picture.channels)],
               picture.channels, kind);
      png_write_row(encoder, row.data());
    }
  png_write_end(encoder, header);
  png_destroy_write_struct(&encoder, &header);
  return bytes;
}

}  // namespace parajoule::data::made
