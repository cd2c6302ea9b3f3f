// Any bytes as a record: they are read, or refused by an Error. Nothing else may happen.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "store/export.h"
#include "store/reader.h"
#include "store/summary.h"

namespace {

using namespace parajoule;

/// Where this process puts its record; other fuzzers run beside it.
struct Place {
  std::filesystem::path folder;

  Place() {
    const std::filesystem::path memory = "/dev/shm";
    const auto all =
        std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    folder = all / fmt::format("parajoule-fuzz-{}", getpid());
    std::filesystem::create_directories(folder);
  }
  ~Place() { std::filesystem::remove_all(folder); }
};

store::FileSystem local_disk(const std::filesystem::path&) { return {"ext4", true, true}; }

void read_all(const std::filesystem::path& file) {
  const store::Reader record(file, local_disk);
  store::summarise(record);
  std::ostringstream out;
  store::export_json(record, out);
  for (const std::string_view table : store::tables()) store::export_csv(record, table, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Place place;
  const std::filesystem::path file = place.folder / "record.db";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), std::streamsize(size));
  try {
    read_all(file);
  } catch (const base::Error&) {
    // The right answer to most bytes.
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(file.string() + suffix);
  return 0;
}
