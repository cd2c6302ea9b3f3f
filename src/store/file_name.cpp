#include "store/file_name.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"

namespace parajoule::store {

std::string random_id() {
  unsigned char bytes[8];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw base::Error(base::Fault::environment, "the system has no random numbers (getrandom)");
  std::string id;
  for (const unsigned char byte : bytes) id += char('a' + byte % 26);
  return id;
}

std::string written_utc(std::chrono::system_clock::time_point moment) {
  using std::chrono::milliseconds;
  const auto since = std::chrono::floor<milliseconds>(moment.time_since_epoch()).count();
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     since - 1000 * seconds);
}

double seconds_of_utc(const std::string& utc) {
  std::tm moment{};
  int milliseconds = 0;
  if (std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d:%d.%dZ", &moment.tm_year, &moment.tm_mon,
                  &moment.tm_mday, &moment.tm_hour, &moment.tm_min, &moment.tm_sec,
                  &milliseconds) < 6)
    return 0;
  moment.tm_year -= 1900;
  moment.tm_mon -= 1;
  return double(timegm(&moment)) + 1e-3 * milliseconds;
}

std::string file_name(std::string_view started_utc, std::string_view name, std::string_view id) {
  constexpr std::size_t longest = 60;
  std::string plain_name;
  for (const char c : name.substr(0, longest)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    plain_name += plain ? c : '_';
  }
  std::string start;
  for (const char c : started_utc.substr(0, started_utc.find('.')))
    if (c != '-' && c != ':') start += c;
  return fmt::format("{}Z-{}-{}.db", start, plain_name.empty() ? "run" : plain_name, id);
}

std::filesystem::path folder_of_records(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::filesystem::path real;
  if (!failed) real = std::filesystem::canonical(folder, failed);
  if (failed)
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot make the folder of records '{}': {}; name another one "
                                  "with the key `records` or PARAJOULE_RECORDS",
                                  folder.string(), failed.message()));
  return real;
}

namespace {

/// Why nothing can be made in a folder; 0 if it can.
int unusable(const std::filesystem::path& folder) {
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) return failed ? failed.value() : ENOTDIR;
  return access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

}  // namespace

std::vector<std::filesystem::path> temporary_folders() {
  std::vector<std::filesystem::path> folders;
  const auto add = [&](const std::filesystem::path& folder) {
    if (unusable(folder) == 0 && std::ranges::find(folders, folder) == folders.end())
      folders.push_back(folder);
  };
  if (const auto chosen = base::environment("TMPDIR"); chosen && !chosen->empty()) add(*chosen);
  for (const char* usual : {"/tmp", "/var/tmp", "/dev/shm"}) add(usual);
  return folders;
}

std::filesystem::path temporary_folder() {
  const auto folders = temporary_folders();
  if (folders.empty())
    throw base::Error(base::Fault::environment,
                      fmt::format("there is no folder for temporary files: {}none of /tmp, "
                                  "/var/tmp and /dev/shm can be written; name one with TMPDIR",
                                  unusable_tmpdir().empty() ? "" : unusable_tmpdir() + ", and "));
  return folders.front();
}

std::string unusable_tmpdir() {
  const auto chosen = base::environment("TMPDIR");
  const int code = chosen && !chosen->empty() ? unusable(*chosen) : 0;
  if (code == 0) return {};
  return fmt::format("TMPDIR is '{}', which cannot be used: {}", *chosen, std::strerror(code));
}

}  // namespace parajoule::store
