// Fashion-MNIST: H. Xiao, K. Rasul, R. Vollgraf, "Fashion-MNIST: a Novel Image Dataset for
// Benchmarking Machine Learning Algorithms", arXiv:1708.07747. 60 000 and 10 000 grey pictures of
// 28x28 pixels of ten kinds of clothes, as four gzipped IDX files.

#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "data/idx.h"
#include "data/packed_file.h"
#include "data/sets.h"
#include "data/stored.h"

namespace parajoule::data {

namespace {

const std::vector<std::string> classes = {"t-shirt", "trouser", "pullover", "dress", "coat",
                                          "sandal",  "shirt",   "sneaker",  "bag",   "boot"};

std::unique_ptr<Dataset> open(const base::Settings& settings, Split split) {
  const std::filesystem::path folder = settings.word("folder");
  const std::string part = split == Split::training ? "train" : "t10k";
  const auto pictures = idx_file(folder, part + "-images-idx3-ubyte");
  const auto labels = idx_file(folder, part + "-labels-idx1-ubyte");
  for (const auto& file : {pictures, labels})
    if (!may_be_opened(file))
      throw base::Error(base::Fault::input,
                        fmt::format("fashion_mnist: no {}; apt-get install dataset-fashion-mnist, "
                                    "or set fashion_mnist.folder",
                                    file.string()));
  Stored::Content content = read_idx_pair(pictures, labels, classes);
  const auto looks = Stored::Looks::of("fashion_mnist", settings, content.shape.channels);
  return std::make_unique<Stored>(std::move(content), looks);
}

}  // namespace

Kind fashion_mnist() {
  std::vector<base::Option> options = looks_options({.mean = "[0.2860]", .deviation = "[0.3530]"});
  options.insert(options.begin(), {.name = "folder",
                                   .kind = base::Option::Kind::word,
                                   .fallback = "/usr/share/datasets/fashion-mnist",
                                   .help = "where the four IDX files lie"});
  return {.name = "fashion_mnist",
          .summary = "70 000 grey pictures of clothes, 28x28, 10 classes (arXiv:1708.07747)",
          .options = std::move(options),
          .open = open};
}

}  // namespace parajoule::data
