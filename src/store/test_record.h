#pragma once

// What the tests of this folder share: a folder of their own, and a record with every kind of row.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "store/record.h"
#include "store/rows.h"

namespace parajoule::store {

/// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path memory = "/dev/shm";  // quick, and a local file system
    std::string name =
        (std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) /
        "parajoule-test-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code nothing;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, nothing);
    std::filesystem::remove_all(path_, nothing);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline FileSystem local_disk(const std::filesystem::path&) { return {"ext4", true, true}; }
inline FileSystem network_disk(const std::filesystem::path&) { return {"nfs", false, true}; }
inline FileSystem disk_without_locks(const std::filesystem::path&) {
  return {"lustre", false, false};
}

inline Record::Options options_in(const TemporaryFolder& folder) {
  return {.folder = folder.path(),
          .name = "mlp",
          .version = "0.1.0",
          .command = "parajoule train mlp.toml",
          .file_system = local_disk};
}

/// One row of each table, with a member of every kind set and one unset.
struct Example {
  Setting setting{"local_sgd.period", "8", "file"};
  Node node{.node = 0, .boot_id = "b00t", .host = "n01", .cpus = 2, .memory_bytes = 1LL << 40};
  Source package{.source = 0,
                 .node = 0,
                 .device = "package-0",
                 .device_kind = "cpu",
                 .quantity = Quantity::energy,
                 .unit = "joules",
                 .label = Label::measured,
                 .covers = "cpu package 0, RAPL powercap",
                 .resolution = 6.1e-5,
                 .update_period = base::Seconds(0.001)};
  Source memory{.source = 1,
                .node = 0,
                .device = "memory",
                .device_kind = "memory",
                .quantity = Quantity::power,
                .unit = "watts",
                .label = Label::modelled,
                .covers = "memory",
                .part_of = "package-0",
                .bias_relative = 0.5,
                .formula = "0.375 W/GiB"};
  std::vector<Reading> readings = {
      {.source = 0, .seconds = base::Seconds(0.1), .value = 17.25},
      {.source = 1, .seconds = base::Seconds(0.1), .gap = "failed: the device said no"}};
  Phase phase{.rank = 1, .name = "forward", .begin = base::Seconds(1), .end = base::Seconds(2)};
  Step step{.rank = 1,
            .step = 0,
            .seconds = base::Seconds(2.5),
            .samples = 64,
            .loss = 2.302585092994046,
            .sent_bytes = 5'000'000'000,
            .waited = base::Seconds(0.25)};
  Epoch epoch{.epoch = 0,
              .seconds = base::Seconds(3),
              .set = "validation",
              .metric = "top1_error",
              .numerator = 1403,
              .denominator = 10000};
  Note note{.seconds = base::Seconds(3.5),
            .rank = 1,
            .severity = Severity::warning,
            .text = "schön, \"quoted\"\nand a second line"};

  void add_to(Record& record) const {
    record.add(setting);
    record.add(node);
    record.add(package);
    record.add(memory);
    record.add(readings);
    record.add(phase);
    record.add(step);
    record.add(epoch);
    record.add(note);
  }
};

}  // namespace parajoule::store
