#pragma once

// Files a person names to be written: whatever stands there stays what it is.

#include <filesystem>
#include <string_view>

namespace parajoule::cli {

/// An open file that is closed with an eye on errors. All throw Error{environment}, which names
/// the file.
class OutputFile {
 public:
  /// `flags`: O_TRUNC or O_APPEND. A FIFO that nobody reads is an error, for it would be waited
  /// for.
  OutputFile(const std::filesystem::path& file, int flags);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int file() const { return file_; }
  void write(std::string_view text);
  void end();

 private:
  std::filesystem::path name_;
  int file_;
};

void write_file(const std::filesystem::path& file, std::string_view text);

/// So that whoever reads a plain file, or the one that a link leads to, finds the former text or
/// this one and never a part, with mode 0644. Anything else, a device or a FIFO, is written to as
/// it is.
void write_atomically(const std::filesystem::path& file, std::string_view text);

}  // namespace parajoule::cli
