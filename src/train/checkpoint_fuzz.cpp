// Any bytes as a checkpoint: it is read, or refused with Error{input}; nothing else happens.

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "train/checkpoint_file.h"
#include "train/checkpoint_table.h"

namespace {

using namespace parajoule;

/// Puts right checksums on header and table, so that what they say is looked at.
void mend(std::vector<std::byte>& bytes) {
  if (bytes.size() < train::Header::bytes) return;
  const std::span all(bytes);
  std::uint64_t table_bytes = 0;
  std::memcpy(&table_bytes, &bytes[24], sizeof table_bytes);
  if (table_bytes > bytes.size() - train::Header::bytes) return;
  const std::uint64_t file_bytes = bytes.size();
  std::memcpy(&bytes[16], &file_bytes, sizeof file_bytes);
  const auto table = train::checksum_of(all.subspan(train::Header::bytes, table_bytes));
  std::memcpy(&bytes[32], &table, sizeof table);
  const auto header = train::checksum_of(all.first(36));
  std::memcpy(&bytes[36], &header, sizeof header);
}

void read(std::span<const std::byte> bytes) {
  const int file = memfd_create("checkpoint", MFD_CLOEXEC);
  base::ensure(write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size()), "memory is left");
  try {
    const auto archive = train::read_archive(fmt::format("/proc/self/fd/{}", file));
    const auto front = train::Table::of(archive).encoded();
    base::ensure(std::memcmp(front.data(), bytes.data(), front.size()) == 0,
                 "what was read would be written the same");
  } catch (const base::Error& error) {
    if (error.fault != base::Fault::input) throw;
  }
  close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  read(bytes);
  mend(bytes);
  read(bytes);
  return 0;
}
