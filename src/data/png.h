#pragma once

// PNG by libpng.

#include <cstdint>
#include <memory>
#include <span>

#include "data/picture_file.h"

namespace parajoule::data {

class Png final : public PictureFile {
 public:
  /// Reads the header.
  explicit Png(std::span<const std::uint8_t> bytes);
  ~Png() override;

  int width() const override { return width_; }
  int height() const override { return height_; }
  bool shrinks() const override { return false; }
  Part decode(const Box& box, int shrink, PixelMemory& memory) override;

 private:
  struct Decoder;
  std::unique_ptr<Decoder> decoder_;
  int width_ = 0;
  int height_ = 0;
};

}  // namespace parajoule::data
