#include "store/file_system.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::store {
namespace {

// Numbers from statfs(2), linux/magic.h and the file systems' own sources.
struct Known {
  std::uint32_t f_type;
  const char* name;
  bool local;
};
constexpr Known known[] = {
    {0x0000EF53, "ext4", true},      {0x58465342, "xfs", true},      {0x9123683E, "btrfs", true},
    {0x2FC12FC1, "zfs", true},       {0x01021994, "tmpfs", true},    {0x858458F6, "ramfs", true},
    {0x794C7630, "overlay", true},   {0xF2F52010, "f2fs", true},     {0xCA451A4E, "bcachefs", true},
    {0x3153464A, "jfs", true},       {0x52654973, "reiserfs", true}, {0x00006969, "nfs", false},
    {0x0BD00BD0, "lustre", false},   {0x47504653, "gpfs", false},    {0x19830326, "beegfs", false},
    {0x65735546, "fuse", false},     {0xFF534D42, "cifs", false},    {0xFE534D42, "smb2", false},
    {0x0000517B, "smb", false},      {0x01021997, "9p", false},      {0x00C36400, "ceph", false},
    {0x5346414F, "afs", false},      {0x6B414653, "kafs", false},    {0x73757245, "coda", false},
    {0x20030528, "orangefs", false}, {0xAAD7AAEA, "panfs", false},   {0x7461636F, "ocfs2", false},
    {0x01161970, "gfs2", false},     {0x786F4256, "vboxsf", false},
};

bool locks_work(const std::filesystem::path& folder) {
  std::string name = folder / ".parajoule-lock-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return true;  // creating the record will say why
  unlink(name.c_str());
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool work = fcntl(file, F_SETLK, &lock) == 0;
  close(file);
  return work;
}

// Waits until a file, or the names in a folder, are on disk.
void synchronise(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = file >= 0 && fsync(file) == 0;
  const int failure = errno;
  if (file >= 0) close(file);
  if (!done)
    throw std::filesystem::filesystem_error("fsync", path,
                                            std::error_code(failure, std::generic_category()));
}

}  // namespace

FileSystem file_system_of_type(long f_type) {
  for (const Known& each : known)
    if (each.f_type == std::uint32_t(f_type)) return {each.name, each.local, true};
  return {fmt::format("unknown (type {:#x})", std::uint32_t(f_type)), false, true};
}

FileSystem file_system(const std::filesystem::path& folder) {
  struct statfs found {};
  if (statfs(folder.c_str(), &found) != 0)
    throw base::Error(base::Fault::environment, fmt::format("cannot look at folder '{}': {}",
                                                            folder.string(), strerror(errno)));
  FileSystem system = file_system_of_type(found.f_type);
  if (!system.shared_memory) system.locks = locks_work(folder);
  return system;
}

void move_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::path part = to;
  part += ".part";
  try {
    std::filesystem::copy_file(from, part);
    synchronise(part);
    std::filesystem::rename(part, to);
    synchronise(to.parent_path());
  } catch (const std::filesystem::filesystem_error& error) {
    std::error_code nothing;
    std::filesystem::remove(part, nothing);
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot move the record from '{}' to '{}': {}; move it by hand",
                                  from.string(), to.string(), error.code().message()));
  }
  std::filesystem::remove(from);
}

}  // namespace parajoule::store
