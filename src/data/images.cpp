// Image folders: ImageNet (O. Russakovsky et al., "ImageNet Large Scale Visual Recognition
// Challenge", IJCV 2015) as usually unpacked, or any pictures sorted into folders by class.

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "data/image_folder.h"
#include "data/sets.h"

namespace parajoule::data {

namespace {

struct Bounds {
  double least;
  double most;
};

Bounds bounds(const base::Settings& settings, std::string_view key) {
  const std::vector<double>& given = settings.numbers(key);
  if (given.size() != 2 || !(0 < given[0]) || !(given[0] <= given[1]))
    throw base::Error(base::Fault::usage, fmt::format("images.{} = [{}] is not the least and the "
                                                      "most of something above 0",
                                                      key, fmt::join(given, ", ")));
  return {given[0], given[1]};
}

ImageFolder::Looks looks_of(const base::Settings& settings) {
  const Bounds scale = bounds(settings, "scale");
  const Bounds ratio = bounds(settings, "ratio");
  if (scale.most > 1)
    throw base::Error(
        base::Fault::usage,
        fmt::format("images.scale ends at {}; a part is at most the whole, 1", scale.most));
  ImageFolder::Looks looks{.size = int(settings.whole("size")),
                           .shorter_side = int(settings.whole("resize")),
                           .crop = {.least_scale = scale.least,
                                    .most_scale = scale.most,
                                    .least_ratio = ratio.least,
                                    .most_ratio = ratio.most},
                           .flip = settings.flag("flip"),
                           .normalisation = Normalisation::of("images", settings, 3)};
  if (looks.shorter_side < looks.size)
    throw base::Error(base::Fault::usage,
                      fmt::format("images.resize = {} is below images.size = {}",
                                  looks.shorter_side, looks.size));
  return looks;
}

/// What is wrong with a folder, with the keys that name it.
template <class Read>
auto naming(std::string_view key, Read&& read) {
  try {
    return read();
  } catch (const base::Error& error) {
    throw base::Error(error.fault,
                      fmt::format("{}; see images.folder and images.{}", error.what(), key));
  }
}

std::unique_ptr<Dataset> open(const base::Settings& settings, Split split) {
  if (settings.word("folder").empty())
    throw base::Error(base::Fault::usage,
                      "images.folder is not set; it should hold train/CLASS/* and val/CLASS/*");
  const ImageFolder::Looks looks = looks_of(settings);
  const std::filesystem::path folder = settings.word("folder");
  const std::filesystem::path training = folder / settings.word("training");
  auto classes = naming("training", [&] { return classes_in(training); });
  const std::string_view part = split == Split::training ? "training" : "validation";
  return naming(part, [&] {
    return std::make_unique<ImageFolder>(folder / settings.word(part), std::move(classes), looks);
  });
}

}  // namespace

Kind images() {
  using Of = base::Option::Kind;
  return {
      .name = "images",
      .summary = "JPEG and PNG pictures in folders: train/CLASS/*, val/CLASS/*",
      .options =
          {{.name = "folder", .kind = Of::word, .fallback = "", .help = "holds train and val"},
           {.name = "training",
            .kind = Of::word,
            .fallback = "train",
            .help = "folder of the training pictures in it"},
           {.name = "validation",
            .kind = Of::word,
            .fallback = "val",
            .help = "folder of the validation pictures in it"},
           {.name = "size",
            .kind = Of::whole,
            .fallback = "224",
            .help = "height and width of a sample, in pixels",
            .least = 1,
            .most = 4096},
           {.name = "resize",
            .kind = Of::whole,
            .fallback = "256",
            .help = "in evaluation, pixels of the shorter side before the central square is taken",
            .least = 1,
            .most = 8192},
           {.name = "scale",
            .kind = Of::numbers,
            .fallback = "[0.08, 1.0]",
            .help = "in training, the area of the part that is shown, least and most, of the "
                    "picture's"},
           {.name = "ratio",
            .kind = Of::numbers,
            .fallback = "[0.75, 1.3333333333333333]",
            .help = "in training, width to height of the part, least and most"},
           {.name = "flip",
            .kind = Of::flag,
            .fallback = "true",
            .help = "in training, mirror half of the pictures left to right"},
           {.name = "mean",
            .kind = Of::numbers,
            .fallback = "[0.485, 0.456, 0.406]",
            .help = "subtracted from each channel, of pixels from 0 to 1"},
           {.name = "deviation",
            .kind = Of::numbers,
            .fallback = "[0.229, 0.224, 0.225]",
            .help = "each channel is divided by it, of pixels from 0 to 1"}},
      .open = open};
}

}  // namespace parajoule::data
