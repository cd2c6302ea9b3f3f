#include "meter/credentials.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
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
  explicit File(const fs::path& path)
      : descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor;
};

/// What lines `KEY = VALUE` say; of a line that is none of `keys` its number is told, for the line
/// itself may hold a password.
std::map<std::string_view, std::string> said(std::string_view text, const fs::path& file,
                                             std::span<const std::string_view> keys) {
  std::map<std::string_view, std::string> values;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    const auto key = std::ranges::find(keys, base::trimmed(line.substr(0, equals)));
    if (equals == line.npos || key == keys.end())
      throw wrong(file,
                  fmt::format("line {} is not '{} = ...'", number, fmt::join(keys, " = ...', '")));
    values[*key] = base::trimmed(line.substr(equals + 1));
  }
  return values;
}

std::string private_text(const fs::path& path) {
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
  text.resize(std::size_t(count));
  return text;
}

}  // namespace

HttpAccess credentials_in(std::string_view text, const fs::path& file) {
  static constexpr std::string_view keys[] = {"user", "password", "certificate"};
  auto values = said(text, file, keys);
  if (values["user"].empty()) throw wrong(file, "names no user");
  HttpAccess access{.user = values["user"], .password = values["password"]};
  if (const auto& certificate = values["certificate"]; !certificate.empty())
    access.certificate = file.parent_path() / certificate;
  return access;
}

SnmpAccess snmp_access_in(std::string_view text, const fs::path& file) {
  static constexpr std::string_view keys[] = {"community",      "user",    "password",
                                              "authentication", "privacy", "privacy_password"};
  auto values = said(text, file, keys);
  SnmpAccess access{.community = values["community"], .user = values["user"]};
  if (access.community.empty() == access.user.empty())
    throw wrong(file, "names either a community or a user");
  const auto take = [&](std::string_view key, std::string& to) {
    if (!values[key].empty()) to = values[key];
  };
  take("password", access.password);
  take("authentication", access.authentication);
  take("privacy", access.privacy);
  take("privacy_password", access.privacy_password);
  if (!access.user.empty() && access.password.empty())
    throw wrong(file, "names a user without a password");
  return access;
}

HttpAccess read_credentials(const fs::path& file) {
  return credentials_in(private_text(file), file);
}

SnmpAccess read_snmp_access(const fs::path& file) {
  return snmp_access_in(private_text(file), file);
}

}  // namespace parajoule::meter
