#include "meter/credentials.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

namespace parajoule::meter {

namespace fs = std::filesystem;

namespace {

base::Error wrong(const fs::path& file, const std::string& why) {
  return {base::Fault::input, fmt::format("{}: {}", file.string(), why)};
}

/// Closes itself.
struct File {
  explicit File(const fs::path& path) : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor;
};

}  // namespace

HttpAccess credentials_in(std::string_view text, const fs::path& file) {
  HttpAccess access;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = base::trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(
        std::min(text.find('\n') == text.npos ? text.size() : text.find('\n') + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    const std::string_view key = base::trimmed(line.substr(0, equals));
    const std::string value(equals == line.npos ? "" : base::trimmed(line.substr(equals + 1)));
    if (equals != line.npos && key == "user")
      access.user = value;
    else if (equals != line.npos && key == "password")
      access.password = value;
    else if (equals != line.npos && key == "certificate")
      access.certificate = file.parent_path() / value;
    else  // the line itself may hold a password
      throw wrong(file, fmt::format("line {} is not 'user = ...', 'password = ...' or "
                                    "'certificate = ...'",
                                    number));
  }
  if (access.user.empty()) throw wrong(file, "names no user");
  return access;
}

HttpAccess read_credentials(const fs::path& path) {
  // Looked at by its descriptor, so that nobody can put another file in its place between.
  const File file(path);
  struct stat about {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &about) != 0)
    throw wrong(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) throw wrong(path, "is no plain file");
  if (about.st_uid != ::geteuid()) throw wrong(path, "belongs to somebody else");
  if ((about.st_mode & 07777) != 0600)
    throw wrong(path, fmt::format("others may read it (mode {:04o}); run: chmod 600 {}",
                                  about.st_mode & 07777, path.string()));
  std::string text(std::size_t(std::min<off_t>(about.st_size, 1 << 16)), '\0');
  const ssize_t count = ::read(file.descriptor, text.data(), text.size());
  if (count < 0) throw wrong(path, std::strerror(errno));
  return credentials_in(std::string_view(text).substr(0, std::size_t(count)), path);
}

}  // namespace parajoule::meter
