#pragma once

// Pictures in folders named after their classes, as ImageNet is usually unpacked.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/crop.h"
#include "data/dataset.h"
#include "data/image_index.h"
#include "data/normalise.h"
#include "data/picture_file.h"

namespace parajoule::data {

/// FOLDER/CLASS/FILE. In training a random part of a picture is resized to a square and mirrored
/// half of the time; in evaluation the picture is resized and its central square taken.
class ImageFolder final : public Dataset {
 public:
  struct Looks {
    int size = 224;          ///< of the square, in pixels
    int shorter_side = 256;  ///< of the picture the central square is taken from, at least `size`
    RandomCrop crop = {};
    bool flip = true;
    Normalisation normalisation = {};  ///< of three channels
  };

  /// `class_names` gives the classes their numbers; a folder named otherwise is an Error{input}.
  ImageFolder(const std::filesystem::path& folder, std::vector<std::string> class_names,
              const Looks& looks);

  std::int64_t size() const override { return index_.size(); }
  Shape shape() const override { return {3, looks_.size, looks_.size}; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::int64_t label(std::int64_t index) const override;
  Sample read(std::int64_t index, const View& view, std::span<float> out) const override;
  Picture picture(std::int64_t index) const override;

  /// What part of a picture of this extent a view shows.
  Window window(std::int64_t index, const View& view, int width, int height) const;

 private:
  /// What one thread needs to read one picture.
  struct Desk {
    std::vector<std::uint8_t> file;
    PixelMemory pixels;
    std::vector<float> row;
  };
  class Lent;

  ImageIndex index_;
  std::vector<std::string> class_names_;
  std::vector<std::int64_t> labels_;  // of the folder's classes
  Looks looks_;
  mutable std::mutex mutex_;  // guards the desks that are free
  mutable std::vector<std::unique_ptr<Desk>> desks_;
};

/// The bytes of a file, in `into`. Throws Error{input} if there is no such file, it cannot be
/// opened by us or it is not a file; Error{environment} if the machine is at fault.
void read_file(const std::filesystem::path& path, std::vector<std::uint8_t>& into);

}  // namespace parajoule::data
