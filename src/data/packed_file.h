#pragma once

// A file read from front to back, gzipped or plain: which of the two its first bytes tell.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct gzFile_s;

namespace parajoule::data {

/// False only if there is nothing of that name: what is wrong with the rest is told when it is
/// opened.
bool may_be_opened(const std::filesystem::path& path);

class PackedFile {
 public:
  /// Throws Error{input} if there is no plain file of that name, Error{environment} if it cannot be
  /// opened.
  explicit PackedFile(const std::filesystem::path& path);

  /// As many bytes as there are left, up to `into.size()`. Throws Error{input} if the file cannot
  /// be unzipped.
  std::size_t read(std::span<std::uint8_t> into);

  /// Appends up to `count` bytes; returns how many there were. Memory follows what is there, not
  /// `count`.
  std::int64_t append(std::vector<std::uint8_t>& to, std::int64_t count);

  /// Throws Error{input} with the file's name.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
};

}  // namespace parajoule::data
