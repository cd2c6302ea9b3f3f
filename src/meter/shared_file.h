#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "base/quantity.h"
#include "meter/kernel_file.h"

namespace parajoule::meter {

/// A file that several sources read in each round: the kernel makes its text once for all of them,
/// which may cost more than everything else in the round. Used from one thread.
class SharedFile {
 public:
  explicit SharedFile(const std::filesystem::path& path) : file_(path) {}

  /// The text, at most 5 ms old at `now`.
  const std::variant<std::string, Failure>& text(base::Seconds now);

  /// The text of this very moment.
  std::variant<std::string, Failure> text() const { return file_.text(); }

 private:
  KernelFile file_;
  std::optional<base::Seconds> at_;
  std::variant<std::string, Failure> text_;
};

}  // namespace parajoule::meter
