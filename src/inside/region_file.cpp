#include "inside/region_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace parajoule::inside {
namespace {

bool plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string percent_encoded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (plain(c))
      text += c;
    else
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::optional<RegionFile> RegionFile::make(const std::filesystem::path& folder) {
  constexpr int most_attempts = 1000;
  // A number may have been another process's before, or be one in another container.
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::filesystem::path file = folder / fmt::format("{}-{}", ::getpid(), attempt);
    const int descriptor =
        ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor >= 0) return RegionFile(descriptor);
    if (errno != EEXIST) break;
  }
  return {};
}

RegionFile::~RegionFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RegionFile::RegionFile(RegionFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

RegionFile& RegionFile::operator=(RegionFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool RegionFile::begin(std::uint64_t id, base::Seconds at, std::string_view name) const {
  return write(fmt::format("B {} {:.9f} {}\n", id, at.count(), percent_encoded(name)));
}

bool RegionFile::end(std::uint64_t id, base::Seconds at) const {
  return write(fmt::format("E {} {:.9f}\n", id, at.count()));
}

bool RegionFile::write(const std::string& line) const {
  return ::write(descriptor_, line.data(), line.size()) == ssize_t(line.size());
}

}  // namespace parajoule::inside
