#pragma once

// How the tasks of a job find each other on a node: a folder in memory whose name all of them know,
// with a page of each task there that it keeps locked for as long as it lives. Whoever dies lets
// go.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace parajoule::measure {

/// What a task tells the others. Moments are of CLOCK_MONOTONIC.
struct Page {
  int rank = 0;
  std::vector<int> cores = {};                      ///< it may run on
  std::optional<std::string> visible_devices = {};  ///< CUDA_VISIBLE_DEVICES
  std::optional<base::Seconds> begin = {};          ///< of its command
  std::optional<base::Seconds> end = {};
  std::optional<int> status = {};
  base::Seconds cpu{0};
  std::vector<std::string> remarks = {};
  bool operator==(const Page&) const = default;
};

std::string written(const Page& page);
/// None of what is torn.
std::optional<Page> page_in(std::string_view text);

/// A file that is locked for as long as this lives, in this process and those that were forked from
/// it since.
class Lock {
 public:
  /// None if it is held by another process. Throws Error{environment} that names the file.
  static std::optional<Lock> take(const std::filesystem::path& file);
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;
  ~Lock();

  int file() const { return file_; }

 private:
  explicit Lock(int file) : file_(file) {}
  int file_;
};

/// The same number for the same text on every machine.
std::uint64_t mixed(std::string_view text);

/// Whether a process holds the lock of a file that is there.
bool held(const std::filesystem::path& file);

/// Returns when nobody holds it any more.
void wait_until_free(const std::filesystem::path& file);

class Gathering {
 public:
  /// Makes the folder, or finds it; only its user may look into it. Throws Error{environment}.
  Gathering(const std::string& job, const std::string& boot_id,
            const std::filesystem::path& memory = "/dev/shm");

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path meter_lock() const { return folder_ / "meter"; }
  std::filesystem::path ready() const { return folder_ / "ready"; }
  std::filesystem::path result() const { return folder_ / "result"; }
  std::filesystem::path told() const { return folder_ / "told"; }
  std::filesystem::path regions() const { return folder_ / "regions"; }

  /// Puts the page there, locked from its first moment on.
  Lock enter(const Page& page) const;
  void rewrite(const Lock& lock, const Page& page) const;

  /// The files of all pages, and what they say.
  std::vector<std::filesystem::path> files() const;
  std::vector<Page> pages() const;

  /// Removes what tasks of an earlier life left behind.
  void clear() const;
  void remove() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace parajoule::measure
