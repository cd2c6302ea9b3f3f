#pragma once

// JPEG by libjpeg-turbo: only the part that is wanted is transformed and coloured, at a smaller
// scale where that will do.

#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <span>

#include <jpeglib.h>

#include "data/picture_file.h"

namespace parajoule::data {

class Jpeg final : public PictureFile {
 public:
  /// Reads the header.
  explicit Jpeg(std::span<const std::uint8_t> bytes);
  ~Jpeg() override;
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  int width() const override { return int(decoder_.image_width); }
  int height() const override { return int(decoder_.image_height); }
  bool shrinks() const override { return true; }
  Part decode(const Box& box, int shrink, PixelMemory& memory) override;

 private:
  /// libjpeg leaves its functions by a jump: each call of it lies within `guarded`, which throws.
  struct Trouble : jpeg_error_mgr {
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX];
  };
  template <class Call>
  void guarded(Call call);
  [[noreturn]] static void jump(j_common_ptr decoder, const char* message);
  static void on_error(j_common_ptr decoder);
  static void on_message(j_common_ptr decoder, int level);
  static void on_progress(j_common_ptr decoder);

  void read_header(std::span<const std::uint8_t> bytes);
  Box start(const Box& wanted);
  void read_rows(const Box& box, std::uint8_t* pixels);
  void read_inks(const Box& box, std::uint8_t* inks, std::uint8_t* pixels);

  Trouble trouble_;
  jpeg_progress_mgr progress_ = {};
  jpeg_decompress_struct decoder_ = {};
};

}  // namespace parajoule::data
