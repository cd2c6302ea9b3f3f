#pragma once

// Files of /proc and /sys: small, made anew at each read, and able to fail at any time.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace parajoule::meter {

/// Why a file could not be read, in the system's words: `Permission denied`.
struct Failure {
  int code;  ///< errno; 0: read, but not what was expected
  std::string text;
};

/// A file that stays open and is read again and again from its beginning.
class KernelFile {
 public:
  explicit KernelFile(const std::filesystem::path& path);
  ~KernelFile();
  KernelFile(KernelFile&& other) noexcept;
  KernelFile& operator=(KernelFile&& other) noexcept;

  /// The whole text.
  std::variant<std::string, Failure> text() const;

  /// A whole number without sign on a line of its own.
  std::variant<std::uint64_t, Failure> number() const;

 private:
  int descriptor_;
  int error_ = 0;  ///< of opening
};

/// The first line of a file without blanks at its end; none if it cannot be read.
std::optional<std::string> line_of(const std::filesystem::path& path);

/// The number in a file; none if there is none.
std::optional<std::uint64_t> number_in(const std::filesystem::path& path);

/// Numbers in order as `0-3,8`.
std::string ranges(const std::vector<int>& numbers);

/// The numbers of `0-3,8`, in order; none at all if the text is anything else, or names more than
/// any machine has processors.
std::vector<int> numbers_of(std::string_view ranges);

}  // namespace parajoule::meter
