#include "data/idx.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"
#include "data/catalog.h"
#include "data/sets.h"

namespace parajoule::data {

namespace {

constexpr std::uint32_t unsigned_bytes = 0x08;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw base::Error(base::Fault::input, fmt::format("{}: {}", path.string(), why));
}

/// Reads a gzipped file, and a plain one as it is.
class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& path)
      : path_(path), file_(gzopen(path.c_str(), "rb"), gzclose) {
    if (file_) return;
    if (errno == ENOENT) refuse(path, "no such file");
    throw base::Error(base::Fault::environment,
                      fmt::format("{}: cannot be opened: {}", path.string(), std::strerror(errno)));
  }

  /// As many bytes as there are, up to `into.size()`.
  std::size_t read(std::span<std::uint8_t> into) {
    const int count = gzread(file_.get(), into.data(), unsigned(into.size()));
    int code = Z_OK;
    const std::string why = gzerror(file_.get(), &code);
    if (count < 0 || code == Z_BUF_ERROR) refuse(path_, "cannot be unzipped: " + why);
    return std::size_t(count);
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t(bytes[0]) << 24 | std::uint32_t(bytes[1]) << 16 |
         std::uint32_t(bytes[2]) << 8 | bytes[3];
}

std::uint32_t word(Bytes& bytes, const std::filesystem::path& path) {
  std::array<std::uint8_t, 4> four;
  if (bytes.read(four) != four.size()) refuse(path, "cut short within the header");
  return big_endian(four);
}

std::vector<std::int64_t> read_shape(Bytes& bytes, const std::filesystem::path& path) {
  const std::uint32_t magic = word(bytes, path);
  if (magic >> 16 != 0) refuse(path, fmt::format("not an IDX file (begins with {:08x})", magic));
  if ((magic >> 8 & 0xff) != unsigned_bytes)
    refuse(path, fmt::format("holds elements of type 0x{:02x}; only unsigned bytes (0x08) are read",
                             magic >> 8 & 0xff));
  std::vector<std::int64_t> shape(magic & 0xff);
  if (shape.empty()) refuse(path, "has no dimension");
  for (std::int64_t& extent : shape) extent = word(bytes, path);
  return shape;
}

std::int64_t product(const std::vector<std::int64_t>& shape, const std::filesystem::path& path) {
  if (std::ranges::count(shape, 0) > 0) refuse(path, "an extent of 0 in its header");
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      refuse(path, "its header claims more bytes than 64 bits count");
  return count;
}

std::vector<std::uint8_t> read_values(Bytes& bytes, std::int64_t count,
                                      const std::filesystem::path& path) {
  constexpr std::int64_t piece = 1 << 20;
  std::vector<std::uint8_t> values;
  while (std::int64_t(values.size()) < count) {
    const std::size_t have = values.size();
    const auto wanted = std::size_t(std::min(piece, count - std::int64_t(have)));
    values.resize(have + wanted);
    const std::size_t got = bytes.read(std::span(values).subspan(have));
    if (got < wanted) refuse(path, fmt::format("cut short: {} of {} values", have + got, count));
  }
  std::array<std::uint8_t, 1> more;
  if (bytes.read(more) != 0) refuse(path, fmt::format("goes on after its {} values", count));
  return values;
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path) {
  Bytes bytes(path);
  IdxArray array{.shape = read_shape(bytes, path)};
  array.values = read_values(bytes, product(array.shape, path), path);
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

std::filesystem::path idx_file(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path plain = folder / name;
  return std::filesystem::exists(plain) ? plain : folder / (name + ".gz");
}

}  // namespace parajoule::data
