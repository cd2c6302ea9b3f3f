#include "data/image_folder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/seed.h"
#include "data/resize.h"
#include "data/sets.h"

namespace parajoule::data {

namespace {

base::Error named(const std::filesystem::path& path, const base::Error& error) {
  return {error.fault, fmt::format("{}: {}", path.string(), error.what())};
}

std::vector<std::int64_t> numbers_of(const ImageIndex& index, const std::filesystem::path& folder,
                                     const std::vector<std::string>& class_names) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : index.class_names()) {
    const auto found = std::ranges::lower_bound(class_names, name);
    if (found == class_names.end() || *found != name)
      throw base::Error(base::Fault::input,
                        fmt::format("{}: no such class among the {} of training",
                                    (folder / name).string(), class_names.size()));
    numbers.push_back(found - class_names.begin());
  }
  return numbers;
}

}  // namespace

/// A desk for as long as one picture is read.
class ImageFolder::Lent {
 public:
  explicit Lent(const ImageFolder& folder) : folder_(folder) {
    const std::lock_guard lock(folder.mutex_);
    if (folder.desks_.empty()) {
      desk_ = std::make_unique<Desk>();
    } else {
      desk_ = std::move(folder.desks_.back());
      folder.desks_.pop_back();
    }
  }
  ~Lent() {
    const std::lock_guard lock(folder_.mutex_);
    folder_.desks_.push_back(std::move(desk_));
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  Desk* operator->() { return desk_.get(); }

 private:
  const ImageFolder& folder_;
  std::unique_ptr<Desk> desk_;
};

ImageFolder::ImageFolder(const std::filesystem::path& folder, std::vector<std::string> class_names,
                         const Looks& looks)
    : index_(folder),
      class_names_(std::move(class_names)),
      labels_(numbers_of(index_, folder, class_names_)),
      looks_(looks) {}

std::int64_t ImageFolder::label(std::int64_t index) const {
  return labels_[std::size_t(index_.label(index))];
}

Window ImageFolder::window(std::int64_t index, const View& view, int width, int height) const {
  if (!view.augmented) return central(width, height, looks_.shorter_side, looks_.size);
  base::Stream stream = base::stream(view.augmented->seed, base::Purpose::augmentation,
                                     std::uint64_t(view.augmented->epoch), std::uint64_t(index));
  const bool mirrored = stream.uniform() < 0.5;
  Window window =
      resized(random_crop(width, height, looks_.crop, stream), looks_.size, looks_.size);
  window.mirrored = mirrored && looks_.flip;
  return window;
}

Sample ImageFolder::read(std::int64_t index, const View& view, std::span<float> out) const {
  base::ensure(out.size() == shape().count(), "there is room for one sample");
  const std::filesystem::path path = index_.file(index);
  Lent desk(*this);
  read_file(path, desk->file);
  try {
    const auto picture = open_picture(desk->file);
    const Window window = this->window(index, view, picture->width(), picture->height());
    const int shrink = picture->shrinks() ? shrink_for(window) : 1;
    const Part part = picture->decode(seen(window), shrink, desk->pixels);
    resize(part, window, desk->row, {out, view.axes, looks_.normalisation});
    return {.label = label(index), .warnings = part.warnings};
  } catch (const base::Error& error) {
    throw named(path, error);
  }
}

Picture ImageFolder::picture(std::int64_t index) const {
  const std::filesystem::path path = index_.file(index);
  Lent desk(*this);
  read_file(path, desk->file);
  try {
    const auto file = open_picture(desk->file);
    const Box whole{.width = file->width(), .height = file->height()};
    const Part part = file->decode(whole, 1, desk->pixels);
    base::ensure(part.box == whole, "a whole picture is decoded whole");
    const std::size_t count = std::size_t(whole.width) * std::size_t(whole.height) * 3;
    return {.height = whole.height,
            .width = whole.width,
            .channels = 3,
            .pixels = {part.pixels.begin(), part.pixels.begin() + std::ptrdiff_t(count)},
            .warnings = part.warnings};
  } catch (const base::Error& error) {
    throw named(path, error);
  }
}

}  // namespace parajoule::data
