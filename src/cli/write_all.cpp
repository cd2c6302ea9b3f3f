#include "cli/write_all.h"

#include <cerrno>

#include <unistd.h>

namespace parajoule::cli {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t length = ::write(file, text.data(), text.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return false;
    text.remove_prefix(std::size_t(length));
  }
  return true;
}

}  // namespace parajoule::cli
