#include "base/plain_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::base {
namespace {

/// Closes itself.
struct Open {
  explicit Open(int file) : file(file) {}
  ~Open() {
    if (file >= 0) close(file);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  int file;
};

}  // namespace

std::string plain_text(const std::filesystem::path& file, std::size_t most, Links links) {
  const auto wrong = [&](const std::string& why) {
    return Error(Fault::input, fmt::format("cannot read '{}': {}", file.string(), why));
  };
  const int no_link = links == Links::refused ? O_NOFOLLOW : 0;
  const Open opened(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | no_link));
  struct stat about {};
  if (opened.file < 0 || fstat(opened.file, &about) != 0)
    throw wrong(no_link != 0 && errno == ELOOP ? "it is a link" : std::strerror(errno));
  if (S_ISDIR(about.st_mode)) throw wrong(std::strerror(EISDIR));
  if (!S_ISREG(about.st_mode)) throw wrong("it is no plain file");
  std::string text;
  constexpr std::size_t at_once = 1 << 16;
  while (true) {  // it may grow meanwhile
    if (text.size() > most || std::size_t(about.st_size) > most)
      throw wrong(fmt::format("it holds more than {} bytes", most));
    const std::size_t held = text.size();
    text.resize(held + at_once);
    const ssize_t count = read(opened.file, text.data() + held, at_once);
    const int code = errno;
    text.resize(held + std::size_t(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
    if (count < 0 && code != EINTR) throw wrong(std::strerror(code));
  }
}

}  // namespace parajoule::base
