#pragma once

// Which pictures lie in a folder CLASS/FILE. Listing a million files on a cluster's file system
// takes minutes, so the list is kept in the folder where that can be written.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::data {

class ImageIndex {
 public:
  /// The list kept in `folder` if it is still true: its checksum holds, and the classes are those
  /// of the folder with the times at which files were last added or removed. Otherwise lists the
  /// folder and keeps the list, if it can. Names that begin with a dot are left out. Throws
  /// Error{input} if there is no such folder, it holds no class, or a class holds a folder or
  /// nothing.
  explicit ImageIndex(const std::filesystem::path& folder);

  std::int64_t size() const { return std::int64_t(ends_.size()); }
  const std::vector<std::string>& class_names() const { return class_names_; }
  /// Samples go by class, classes and files by name.
  std::int64_t label(std::int64_t index) const;
  std::filesystem::path file(std::int64_t index) const;

  /// Whether the list that was kept was true, for tests.
  bool kept() const { return kept_; }

 private:
  struct Class;
  bool load(const std::vector<Class>& classes);
  void list(const std::vector<Class>& classes);
  void keep(const std::vector<Class>& classes) const;
  void add(std::string_view file);
  std::string_view file_name(std::int64_t index) const;

  std::filesystem::path folder_;
  std::vector<std::string> class_names_;
  std::vector<std::int64_t> class_ends_;  // sample behind the last of each class
  std::string names_;                     // all file names end to end
  std::vector<std::uint64_t> ends_;       // of each in it
  bool kept_ = false;
};

/// The names of the folders in `folder`, sorted, without those that begin with a dot. Throws
/// Error{input} if there is no such folder or none in it.
std::vector<std::string> classes_in(const std::filesystem::path& folder);

}  // namespace parajoule::data
