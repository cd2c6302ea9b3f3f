#include "train/failing_disk.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <mutex>

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace parajoule::train::failing_disk {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

std::mutex mutex;  // ranks that are threads share the disk

struct Plan {
  std::int64_t now = 0;
  std::int64_t kill = never;
  std::int64_t fill = never;
  int code = 0;
  std::vector<std::string> calls = {};
};

Plan& plan() {
  static Plan only;
  return only;
}

void note(const char* call) {
  auto& calls = plan().calls;
  if (calls.empty() || calls.back() != call || calls.back() != "write") calls.push_back(call);
}

void die_if_due() {
  if (plan().now >= plan().kill) ::kill(::getpid(), SIGKILL);
}

void tick(const char* call) {
  const std::lock_guard lock(mutex);
  die_if_due();
  note(call);
  ++plan().now;
}

ssize_t write_some(int file, const void* bytes, std::size_t count) {
  const std::lock_guard lock(mutex);
  die_if_due();
  note("write");
  Plan& p = plan();
  if (count > 0 && p.now >= p.fill) {
    errno = p.code;
    return -1;
  }
  const std::int64_t room = std::min(p.kill, p.fill) - p.now;
  const auto some = std::size_t(std::min<std::int64_t>(std::int64_t(count), room));
  const ssize_t written = ::syscall(SYS_write, file, bytes, some);
  if (written > 0) p.now += written;
  return written;
}

}  // namespace

std::int64_t ticks() {
  const std::lock_guard lock(mutex);
  return plan().now;
}

void heal() {
  const std::lock_guard lock(mutex);
  plan() = {};
}

void kill_at(std::int64_t tick) {
  const std::lock_guard lock(mutex);
  plan() = {.kill = tick};
}

void fill_at(std::int64_t tick, int code) {
  const std::lock_guard lock(mutex);
  plan() = {.fill = tick, .code = code};
}

std::vector<std::string> calls() {
  const std::lock_guard lock(mutex);
  return plan().calls;
}

}  // namespace parajoule::train::failing_disk

namespace disk = parajoule::train::failing_disk;

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t count) {
  return disk::write_some(file, bytes, count);
}

int fsync(int file) {
  disk::tick("fsync");
  return int(::syscall(SYS_fsync, file));
}

int rename(const char* from, const char* to) noexcept {
  disk::tick("rename");
  return int(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept {
  disk::tick("unlink");
  return int(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

}  // extern "C"
