#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "data/image_folder.h"

namespace parajoule::data {

namespace {

constexpr std::int64_t most_bytes = 1 << 30;

/// A missing file is the data's fault, a full table of open files is the machine's.
[[noreturn]] void refuse(const std::filesystem::path& path, int number) {
  const bool machine = number == EMFILE || number == ENFILE || number == ENOMEM || number == EIO ||
                       number == ESTALE || number == ETIMEDOUT;
  throw base::Error(machine ? base::Fault::environment : base::Fault::input,
                    fmt::format("{}: cannot be read: {}", path.string(), std::strerror(number)));
}

class Opened {
 public:
  // A named pipe would keep us waiting for its writer.
  explicit Opened(const std::filesystem::path& path)
      : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) refuse(path, errno);
  }
  ~Opened() { close(number_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

void read_file(const std::filesystem::path& path, std::vector<std::uint8_t>& into) {
  const Opened file(path);
  struct stat status;
  if (fstat(file.number(), &status) != 0) refuse(path, errno);
  if (!S_ISREG(status.st_mode) || status.st_size > most_bytes)
    throw base::Error(base::Fault::input,
                      fmt::format("{}: not a file of at most {} bytes", path.string(), most_bytes));
  into.resize(std::size_t(status.st_size));
  std::size_t have = 0;
  while (have < into.size()) {
    const ssize_t count = read(file.number(), into.data() + have, into.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, errno);
    if (count == 0) break;
    have += std::size_t(count);
  }
  into.resize(have);
}

}  // namespace parajoule::data
