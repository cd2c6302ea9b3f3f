#pragma once

// For tests: a folder of made-up kernel files that goes away with its scope.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "meter/open.h"

namespace parajoule::meter {

class MadeUpTree {
 public:
  MadeUpTree() {
    std::string name = (std::filesystem::temp_directory_path() / "parajoule-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    std::filesystem::permissions(root_, std::filesystem::perms(0755));
  }
  ~MadeUpTree() { std::filesystem::remove_all(root_); }
  MadeUpTree(const MadeUpTree&) = delete;
  MadeUpTree& operator=(const MadeUpTree&) = delete;

  const std::filesystem::path& root() const { return root_; }

  void write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  /// A RAPL zone as the kernel shows it; `folder` ends in the zone's id.
  void zone(const std::filesystem::path& folder, const std::string& name,
            std::uint64_t microjoules) const {
    write(folder / "name", name + "\n");
    write(folder / "max_energy_range_uj", "262143328850\n");
    show(folder, microjoules);
  }

  /// What the counter of a zone shows now. Of constant width and in one call, so that a reader in
  /// another thread never sees half of it.
  void show(const std::filesystem::path& folder, std::uint64_t microjoules) const {
    const std::filesystem::path file = root_ / folder / "energy_uj";
    const std::string text = fmt::format("{:020}\n", microjoules);
    const int descriptor = ::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (::pwrite(descriptor, text.data(), text.size(), 0) < 0) std::abort();
    ::close(descriptor);
  }

  /// This tree in place of /sys and /proc; standing still is no sign of death, for its counters
  /// move only when told.
  Options options() const {
    return {.sys = root_ / "sys",
            .proc = root_ / "proc",
            .dev = root_ / "dev",
            .nvml = (root_ / "no-such-library.so").string(),
            .amd_smi = (root_ / "no-such-library.so").string(),
            .rocm_smi = (root_ / "no-such-library.so").string(),
            .patience = {}};
  }

 private:
  std::filesystem::path root_;
};

/// While it lives, the counters of some zones count up.
class Running {
 public:
  Running(const MadeUpTree& tree, std::vector<std::filesystem::path> folders)
      : thread_([&tree, folders = std::move(folders), this] {
          for (std::uint64_t count = 1'000'000; !stop_; count += 50'000) {
            for (const auto& folder : folders) tree.show(folder, count);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~Running() {
    stop_ = true;
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace parajoule::meter
