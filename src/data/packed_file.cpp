#include "data/packed_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"

namespace parajoule::data {

bool may_be_opened(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::symlink_status(path, unknown).type() !=
         std::filesystem::file_type::not_found;
}

PackedFile::PackedFile(const std::filesystem::path& path) : path_(path), file_(nullptr, gzclose) {
  // A named pipe would keep us waiting for its writer, a device never end.
  std::error_code unknown;
  const auto type = std::filesystem::status(path, unknown).type();
  if (type == std::filesystem::file_type::not_found) refuse("no such file");
  if (!unknown && type != std::filesystem::file_type::regular) refuse("not a plain file");
  file_.reset(gzopen(path.c_str(), "rbe"));
  if (file_) return;
  throw base::Error(base::Fault::environment,
                    fmt::format("{}: cannot be opened: {}", path.string(), std::strerror(errno)));
}

std::size_t PackedFile::read(std::span<std::uint8_t> into) {
  const int count = gzread(file_.get(), into.data(), unsigned(into.size()));
  int code = Z_OK;
  const char* why = gzerror(file_.get(), &code);
  if (code == Z_ERRNO)
    throw base::Error(base::Fault::environment,
                      fmt::format("{}: cannot be read: {}", path_.string(), std::strerror(errno)));
  if (count < 0 || code == Z_BUF_ERROR) refuse(fmt::format("cannot be unzipped: {}", why));
  return std::size_t(count);
}

std::int64_t PackedFile::append(std::vector<std::uint8_t>& to, std::int64_t count) {
  constexpr std::int64_t piece = 1 << 20;
  std::int64_t appended = 0;
  while (appended < count) {
    const std::size_t have = to.size();
    const auto wanted = std::size_t(std::min(piece, count - appended));
    to.resize(have + wanted);
    const std::size_t got = read(std::span(to).subspan(have));
    to.resize(have + got);
    appended += std::int64_t(got);
    if (got < wanted) break;
  }
  return appended;
}

void PackedFile::refuse(const std::string& why) const {
  throw base::Error(base::Fault::input, fmt::format("{}: {}", path_.string(), why));
}

}  // namespace parajoule::data
