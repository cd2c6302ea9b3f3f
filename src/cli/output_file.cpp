#include "cli/output_file.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/write_all.h"

namespace parajoule::cli {
namespace {

using std::filesystem::path;

base::Error not_written(const path& file, int code) {
  const char* const why = code == ENXIO ? "nobody reads it" : std::strerror(code);
  return {base::Fault::environment,
          fmt::format("cannot write the file '{}': {}", file.string(), why)};
}

/// Where a chain of links leads to, whether something is there or not.
path target_of(const path& file) {
  constexpr int most_links = 40;  // as of Linux
  path target = file;
  for (int link = 0; link < most_links; ++link) {
    std::error_code failed;
    if (!std::filesystem::is_symlink(target, failed)) return target;
    target = target.parent_path() / std::filesystem::read_symlink(target);
  }
  throw not_written(file, ELOOP);
}

/// A new file beside the one that is meant.
class Draft {
 public:
  explicit Draft(path file)
      : file_(std::move(file)),
        name_(file_.string() + ".XXXXXX"),
        descriptor_(::mkstemp(name_.data())) {
    if (descriptor_ < 0) throw not_written(file_, errno);
  }
  ~Draft() {
    ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void write(std::string_view text) {
    if (!write_all(descriptor_, text)) throw not_written(file_, errno);
  }

  /// In place of the former file. node_exporter, which reads it, is another user.
  void put() {
    if (::fchmod(descriptor_, 0644) != 0 || ::rename(name_.c_str(), file_.c_str()) != 0)
      throw not_written(file_, errno);
    name_.clear();
  }

 private:
  path file_;
  std::string name_;
  int descriptor_;
};

}  // namespace

OutputFile::OutputFile(const path& file, int flags)
    : name_(file),
      file_(open(file.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                 0666)) {
  if (file_ < 0) throw not_written(name_, errno);
  fcntl(file_, F_SETFL, fcntl(file_, F_GETFL) & ~O_NONBLOCK);  // who reads may be slow
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
}

void OutputFile::write(std::string_view text) {
  if (!write_all(file_, text)) throw not_written(name_, errno);
}

void OutputFile::end() {
  const int file = std::exchange(file_, -1);
  if (close(file) != 0) throw not_written(name_, errno);
}

void write_file(const path& file, std::string_view text) {
  OutputFile output(file, O_TRUNC);
  output.write(text);
  output.end();
}

void write_atomically(const path& file, std::string_view text) {
  struct stat about {};
  const bool there = stat(file.c_str(), &about) == 0;
  if (!there && errno != ENOENT) throw not_written(file, errno);
  if (there && !S_ISREG(about.st_mode)) return write_file(file, text);
  Draft draft(target_of(file));
  draft.write(text);
  draft.put();
}

}  // namespace parajoule::cli
