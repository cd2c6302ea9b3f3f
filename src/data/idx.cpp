#include "data/idx.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "data/packed_file.h"
#include "data/sets.h"

namespace parajoule::data {

namespace {

constexpr std::uint32_t unsigned_bytes = 0x08;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw base::Error(base::Fault::input, fmt::format("{}: {}", path.string(), why));
}

std::uint32_t word(PackedFile& file) {
  std::array<std::uint8_t, 4> bytes;
  if (file.read(bytes) != bytes.size()) file.refuse("cut short within its header");
  return std::uint32_t(bytes[0]) << 24 | std::uint32_t(bytes[1]) << 16 |
         std::uint32_t(bytes[2]) << 8 | bytes[3];
}

std::vector<std::int64_t> read_shape(PackedFile& file) {
  const std::uint32_t magic = word(file);
  if (magic >> 16 != 0) file.refuse(fmt::format("not an IDX file: begins with {:08x}", magic));
  const std::uint32_t type = magic >> 8 & 0xff;
  if (type != unsigned_bytes)
    file.refuse(
        fmt::format("holds elements of type 0x{:02x}; only unsigned bytes (0x08) are read", type));
  std::vector<std::int64_t> shape(magic & 0xff);
  if (shape.empty()) file.refuse("has no dimension");
  for (std::int64_t& extent : shape) extent = word(file);
  if (std::ranges::count(shape, 0) > 0) file.refuse("an extent of 0 in its header");
  return shape;
}

std::int64_t product(const PackedFile& file, const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      file.refuse("its header claims more bytes than 64 bits count");
  return count;
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path) {
  PackedFile file(path);
  IdxArray array{.shape = read_shape(file)};
  const std::int64_t count = product(file, array.shape);
  const std::int64_t got = file.append(array.values, count);
  if (got < count) file.refuse(fmt::format("cut short: {} of {} values", got, count));
  std::array<std::uint8_t, 1> more;
  if (file.read(more) != 0) file.refuse(fmt::format("goes on after its {} values", count));
  return array;
}

Stored::Content read_idx_pair(const std::filesystem::path& pictures,
                              const std::filesystem::path& labels,
                              std::vector<std::string> class_names) {
  IdxArray images = read_idx(pictures);
  const IdxArray numbers = read_idx(labels);
  const std::vector<std::int64_t>& shape = images.shape;
  if (shape.size() != 3 && shape.size() != 4)
    refuse(pictures,
           fmt::format("has {} dimensions; pictures have 3 (N,H,W) or 4 (N,C,H,W)", shape.size()));
  if (numbers.shape.size() != 1)
    refuse(labels, fmt::format("has {} dimensions; labels have 1", numbers.shape.size()));
  if (numbers.shape[0] != shape[0])
    refuse(labels, fmt::format("{} labels for the {} pictures of {}", numbers.shape[0], shape[0],
                               pictures.string()));
  const std::uint8_t largest = std::ranges::max(numbers.values);
  if (largest >= class_names.size())
    refuse(labels, fmt::format("label {}; there are {} classes", largest, class_names.size()));
  const std::size_t last = shape.size() - 1;
  return {.shape = {.channels = shape.size() == 4 ? shape[1] : 1,
                    .height = shape[last - 1],
                    .width = shape[last]},
          .pixels = std::move(images.values),
          .labels = {numbers.values.begin(), numbers.values.end()},
          .class_names = std::move(class_names)};
}

namespace {

/// The files of `split`: the options for it, within the option `folder`.
struct Pair {
  std::filesystem::path pictures;
  std::filesystem::path labels;
};

std::filesystem::path existing(const base::Settings& settings, const std::string& key) {
  const auto file = idx_file(settings.word("folder"), settings.word(key));
  if (may_be_opened(file)) return file;
  throw base::Error(base::Fault::input,
                    fmt::format("idx: no {}; set idx.folder, or idx.{}", file.string(), key));
}

Pair pair_of(const base::Settings& settings, Split split) {
  const std::string part = split == Split::training ? "training" : "validation";
  return {.pictures = existing(settings, part + "_pictures"),
          .labels = existing(settings, part + "_labels")};
}

// Classes are numbered; how many there are is told by the training labels.
std::vector<std::string> numbered_classes(const std::filesystem::path& labels) {
  const IdxArray numbers = read_idx(labels);
  std::vector<std::string> names;
  for (int label = 0; label <= std::ranges::max(numbers.values); ++label)
    names.push_back(std::to_string(label));
  return names;
}

std::unique_ptr<Dataset> open(const base::Settings& settings, Split split) {
  const Pair files = pair_of(settings, split);
  Stored::Content content = read_idx_pair(
      files.pictures, files.labels, numbered_classes(pair_of(settings, Split::training).labels));
  const auto looks = Stored::Looks::of("idx", settings, content.shape.channels);
  return std::make_unique<Stored>(std::move(content), looks);
}

base::Option file_option(std::string_view name, std::string_view fallback, std::string_view help) {
  return {.name = name, .kind = base::Option::Kind::word, .fallback = fallback, .help = help};
}

}  // namespace

Kind idx() {
  std::vector<base::Option> options = {
      file_option("folder", ".", "where the four files lie, each with or without .gz"),
      file_option("training_pictures", "train-images-idx3-ubyte", "(N,H,W) or (N,C,H,W) bytes"),
      file_option("training_labels", "train-labels-idx1-ubyte", "(N) bytes"),
      file_option("validation_pictures", "t10k-images-idx3-ubyte", "(N,H,W) or (N,C,H,W) bytes"),
      file_option("validation_labels", "t10k-labels-idx1-ubyte", "(N) bytes")};
  std::ranges::copy(looks_options({.mean = "[0.5]", .deviation = "[0.5]"}),
                    std::back_inserter(options));
  return {.name = "idx",
          .summary = "any pictures and labels in the format of MNIST, gzipped or plain",
          .options = std::move(options),
          .open = open};
}

std::filesystem::path idx_file(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path plain = folder / name;
  return may_be_opened(plain) ? plain : folder / (name + ".gz");
}

}  // namespace parajoule::data
