#include "data/image_index.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"

namespace parajoule::data {

namespace {

using namespace std::string_view_literals;

/// The kept list: fields that end with a zero byte, which no file name holds. This line; the number
/// of classes; for each its name, time and number of files, and their names; the checksum of all
/// that goes before it.
constexpr std::string_view first_line = "parajoule list of images, version 1";
constexpr std::string_view list_name = ".parajoule-images";

/// A folder changed this shortly ago may change again without its time telling.
constexpr std::int64_t settled_nanoseconds = 2'000'000'000;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw base::Error(base::Fault::input, fmt::format("{}: {}", path.string(), why));
}

std::int64_t changed(const std::filesystem::path& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) refuse(path, std::strerror(errno));
  return std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::vector<std::filesystem::directory_entry> entries(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::directory_iterator in(folder, failed);
  if (failed)
    refuse(folder, failed == std::errc::no_such_file_or_directory
                       ? "no such folder; it should hold a folder of pictures for each class"
                       : failed.message());
  std::vector<std::filesystem::directory_entry> found;
  for (const auto& entry : in)
    if (!entry.path().filename().native().starts_with('.')) found.push_back(entry);
  std::ranges::sort(found, {},
                    [](const auto& entry) -> const std::string& { return entry.path().native(); });
  return found;
}

/// A link that leads nowhere, or in a circle, is none.
bool is_folder(const std::filesystem::directory_entry& entry) {
  std::error_code broken;
  return entry.is_directory(broken);
}

/// Reads fields that end with a zero byte.
class Fields {
 public:
  explicit Fields(std::string_view text) : left_(text) {}
  std::optional<std::string_view> next() {
    const std::size_t end = left_.find('\0');
    if (end == left_.npos) return std::nullopt;
    const std::string_view field = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return field;
  }
  std::optional<std::int64_t> number() {
    const std::optional<std::string_view> field = next();
    std::int64_t value = 0;
    if (!field) return std::nullopt;
    const auto [end, failed] = std::from_chars(field->begin(), field->end(), value);
    if (failed != std::errc{} || end != field->end()) return std::nullopt;
    return value;
  }

 private:
  std::string_view left_;
};

std::string checksum(std::string_view text) {
  return fmt::format("{:08x}",
                     crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

/// The fields before the checksum, if it is theirs.
std::optional<std::string> read_list(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::size_t tail = 9;  // eight digits and the end of the field
  if (text.size() < tail) return std::nullopt;
  const std::string told = text.substr(text.size() - tail, tail - 1);
  text.resize(text.size() - tail);
  if (checksum(text) != told) return std::nullopt;
  return text;
}

}  // namespace

struct ImageIndex::Class {
  std::string name;
  std::int64_t changed;
};

std::vector<std::string> classes_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : entries(folder)) {
    if (is_folder(entry)) names.push_back(entry.path().filename().string());
    if (std::error_code broken; entry.is_symlink() && !entry.exists(broken))
      refuse(entry.path(), "a link that leads nowhere: a class may be missing");
  }
  if (names.empty()) refuse(folder, "holds no folders; it should hold one for each class");
  return names;
}

ImageIndex::ImageIndex(const std::filesystem::path& folder) : folder_(folder) {
  std::vector<Class> classes;
  for (const std::string& name : classes_in(folder))
    classes.push_back({name, changed(folder / name)});
  if (load(classes)) return;
  list(classes);
  keep(classes);
}

void ImageIndex::add(std::string_view file) {
  names_ += file;
  ends_.push_back(names_.size());
}

void ImageIndex::list(const std::vector<Class>& classes) {
  class_names_.clear();
  class_ends_.clear();
  names_.clear();
  ends_.clear();
  for (const Class& each : classes) {
    const std::size_t before = ends_.size();
    for (const auto& entry : entries(folder_ / each.name)) {
      if (is_folder(entry))
        refuse(entry.path(), "a folder within a class; only files are looked for there");
      add(entry.path().filename().native());
    }
    if (ends_.size() == before) refuse(folder_ / each.name, "a class without a picture");
    class_names_.push_back(each.name);
    class_ends_.push_back(size());
  }
}

bool ImageIndex::load(const std::vector<Class>& classes) {
  const std::optional<std::string> text = read_list(folder_ / list_name);
  if (!text) return false;
  Fields fields(*text);
  if (fields.next() != first_line || fields.number() != std::int64_t(classes.size())) return false;
  for (const Class& each : classes) {
    if (fields.next() != each.name || fields.number() != each.changed) return false;
    const std::int64_t files = fields.number().value_or(0);
    for (std::int64_t i = 0; i < files; ++i) {
      const std::optional<std::string_view> file = fields.next();
      if (!file) return false;
      add(*file);
    }
    class_names_.push_back(each.name);
    class_ends_.push_back(size());
  }
  kept_ = true;
  return true;
}

// Many ranks may do this at once: each writes a file of its own, and the last one stays. A folder
// that cannot be written has no list, and is listed anew each time.
void ImageIndex::keep(const std::vector<Class>& classes) const {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t settled =
      std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec - settled_nanoseconds;
  std::string text = fmt::format("{}\0{}\0"sv, first_line, classes.size());
  std::int64_t index = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const Class& each = classes[c];
    if (each.changed > settled || changed(folder_ / each.name) != each.changed) return;
    text += fmt::format("{}\0{}\0{}\0"sv, each.name, each.changed, class_ends_[c] - index);
    for (; index < class_ends_[c]; ++index) (text += file_name(index)) += '\0';
  }
  text += checksum(text) + '\0';
  const std::filesystem::path path = folder_ / list_name;
  const std::filesystem::path fresh = fmt::format("{}.{}.{}", path.string(), getpid(), now.tv_nsec);
  std::error_code failed;
  if (std::ofstream file(fresh, std::ios::binary);
      file && file.write(text.data(), std::streamsize(text.size())).flush())
    std::filesystem::rename(fresh, path, failed);
  std::filesystem::remove(fresh, failed);
}

std::string_view ImageIndex::file_name(std::int64_t index) const {
  base::ensure(0 <= index && index < size(), "a sample lies in its data set");
  const auto i = std::size_t(index);
  const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(names_).substr(begin, ends_[i] - begin);
}

std::int64_t ImageIndex::label(std::int64_t index) const {
  base::ensure(0 <= index && index < size(), "a sample lies in its data set");
  return std::ranges::upper_bound(class_ends_, index) - class_ends_.begin();
}

std::filesystem::path ImageIndex::file(std::int64_t index) const {
  return folder_ / class_names_[std::size_t(label(index))] / file_name(index);
}

}  // namespace parajoule::data
