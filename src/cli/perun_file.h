#pragma once

// An HDF5 file as it is written: groups, attributes and rows of numbers, by the HDF5 library,
// loaded when the program runs.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace parajoule::cli {

/// The library and an open file. Whatever is wrong is an Error{environment}.
class Hdf5;

/// A group or a row of numbers in the file.
class Hdf5Object {
 public:
  Hdf5Object(std::shared_ptr<const Hdf5> file, std::int64_t id, bool is_group)
      : file_(std::move(file)), id_(id), is_group_(is_group) {}
  ~Hdf5Object();
  Hdf5Object(Hdf5Object&& other) noexcept;
  Hdf5Object& operator=(Hdf5Object&&) = delete;

  /// A new one in this. A slash in a name becomes `_`, for it would part it.
  Hdf5Object group(std::string_view name) const;
  Hdf5Object row(std::string_view name, std::span<const double> values) const;

  void text(const char* key, const std::string& value) const;
  void number(const char* key, double value) const;
  void whole(const char* key, std::int64_t value) const;

 private:
  std::shared_ptr<const Hdf5> file_;
  std::int64_t id_;
  bool is_group_;
};

/// A new file in the place of any that was there; its root group.
Hdf5Object new_hdf5(const std::filesystem::path& file, const std::string& library = "");

}  // namespace parajoule::cli
