// CIFAR-10 and CIFAR-100: A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images",
// 2009. 50 000 and 10 000 colour pictures of 32x32 pixels. The binary version: records of one label
// (CIFAR-100: a coarse and a fine one) and 3072 bytes (C,H,W).

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"
#include "data/packed_file.h"
#include "data/sets.h"
#include "data/stored.h"

namespace parajoule::data {

namespace {

constexpr Shape picture_shape = {.channels = 3, .height = 32, .width = 32};

struct Version {
  std::string_view name;
  std::string_view folder;  ///< in the archive
  std::vector<std::string> training;
  std::string validation;
  std::string class_names;      ///< a file with one a line
  std::size_t labels_a_record;  ///< the last one counts
};

const Version ten = {.name = "cifar10",
                     .folder = "cifar-10-batches-bin",
                     .training = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                  "data_batch_4.bin", "data_batch_5.bin"},
                     .validation = "test_batch.bin",
                     .class_names = "batches.meta.txt",
                     .labels_a_record = 1};

const Version hundred = {.name = "cifar100",
                         .folder = "cifar-100-binary",
                         .training = {"train.bin"},
                         .validation = "test.bin",
                         .class_names = "fine_label_names.txt",
                         .labels_a_record = 2};

std::filesystem::path found(const Version& version, const std::filesystem::path& folder,
                            const std::string& file) {
  for (const auto& place : {folder, folder / version.folder})
    if (may_be_opened(place / file)) return place / file;
  throw base::Error(base::Fault::input,
                    fmt::format("{}: no {} in {}; unpack the binary version from "
                                "https://www.cs.toronto.edu/~kriz/cifar.html and set {}.folder",
                                version.name, file, folder.string(), version.name));
}

std::vector<std::string> read_names(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) names.push_back(line);
  return names;
}

void append(Stored::Content& content, const std::filesystem::path& path, std::size_t labels) {
  PackedFile file(path);
  std::vector<std::uint8_t> record(labels + picture_shape.count());
  const std::size_t before = content.labels.size();
  while (const std::size_t got = file.read(record)) {
    if (got < record.size())
      file.refuse(fmt::format("cut short within record {}", content.labels.size()));
    const std::uint8_t label = record[labels - 1];
    if (label >= content.class_names.size())
      file.refuse(fmt::format("label {} in record {}; there are {} classes", label,
                              content.labels.size(), content.class_names.size()));
    content.labels.push_back(label);
    content.pixels.insert(content.pixels.end(), record.begin() + std::ptrdiff_t(labels),
                          record.end());
  }
  if (content.labels.size() == before) file.refuse("holds no picture");
}

std::unique_ptr<Dataset> open(const Version& version, const base::Settings& settings, Split split) {
  const std::filesystem::path folder = settings.word("folder");
  Stored::Content content = {
      .shape = picture_shape,
      .class_names = read_names(found(version, folder, version.class_names))};
  if (split == Split::training)
    for (const std::string& file : version.training)
      append(content, found(version, folder, file), version.labels_a_record);
  else
    append(content, found(version, folder, version.validation), version.labels_a_record);
  const auto looks = Stored::Looks::of(version.name, settings, content.shape.channels);
  return std::make_unique<Stored>(std::move(content), looks);
}

std::vector<base::Option> options(std::string_view mean, std::string_view deviation) {
  std::vector<base::Option> options =
      looks_options({.mean = mean, .deviation = deviation, .random_crop = "4", .flip = "true"});
  options.insert(options.begin(), {.name = "folder",
                                   .kind = base::Option::Kind::word,
                                   .fallback = ".",
                                   .help = "where the unpacked binary version lies"});
  return options;
}

}  // namespace

Kind cifar10() {
  return {.name = ten.name,
          .summary = "60 000 colour pictures, 32x32, 10 classes, binary version (Krizhevsky 2009)",
          .options = options("[0.4914, 0.4822, 0.4465]", "[0.2470, 0.2435, 0.2616]"),
          .open = [](const base::Settings& settings, Split split) {
            return open(ten, settings, split);
          }};
}

Kind cifar100() {
  return {.name = hundred.name,
          .summary = "60 000 colour pictures, 32x32, 100 classes, binary version (Krizhevsky 2009)",
          .options = options("[0.5071, 0.4865, 0.4409]", "[0.2673, 0.2564, 0.2762]"),
          .open = [](const base::Settings& settings, Split split) {
            return open(hundred, settings, split);
          }};
}

}  // namespace parajoule::data
