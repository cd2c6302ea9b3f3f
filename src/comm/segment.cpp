#include "comm/segment.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::comm {
namespace {

constexpr std::size_t mebibyte = std::size_t(1) << 20;
constexpr std::size_t gibibyte = std::size_t(1) << 30;

/// With less than this for a rank nothing useful runs: then the mapping may fail, and say why.
constexpr std::size_t least_bytes = 16 * mebibyte;

[[noreturn]] void refuse(const std::filesystem::path& file, const char* what) {
  throw base::Error(base::Fault::environment, fmt::format("shared memory {}: {}: {}", file.string(),
                                                          what, std::strerror(errno)));
}

/// Of the addresses of this process, none if there is none.
std::optional<std::size_t> address_limit() {
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return std::size_t(limit.rlim_cur);
}

std::string mebibytes(std::size_t bytes) {
  return fmt::format("{:.1f} MiB", double(bytes) / (1 << 20));
}

}  // namespace

Segment::Segment(std::filesystem::path file, int descriptor, std::size_t bytes)
    : file_(std::move(file)), descriptor_(descriptor), bytes_(bytes) {
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) {
    const int cause = errno;
    if (descriptor >= 0) close(descriptor);
    throw base::Error(
        base::Fault::environment,
        fmt::format("cannot reserve {} of addresses for the memory of a rank: {}; raise the "
                    "limit of addresses: ulimit -v unlimited",
                    mebibytes(bytes), std::strerror(cause)));
  }
  begin_ = static_cast<std::byte*>(memory);
}

Segment::~Segment() {
  munmap(begin_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

std::shared_ptr<Segment> Segment::in_process(std::size_t bytes) {
  return std::shared_ptr<Segment>(new Segment({}, -1, bytes));
}

std::shared_ptr<Segment> Segment::create(const std::filesystem::path& file, std::size_t bytes) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) refuse(file, "cannot create");
  std::shared_ptr<Segment> segment(new Segment(file, descriptor, bytes));
  if (ftruncate(descriptor, off_t(bytes)) != 0) refuse(file, "cannot set its size");
  // Of the classic kind: owned by the process, not inherited by its children, gone when it dies.
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  if (fcntl(descriptor, F_SETLK, &lock) != 0) refuse(file, "cannot lock");
  return segment;
}

std::shared_ptr<Segment> Segment::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 && (errno == ENOENT || errno == EACCES)) return nullptr;
  if (descriptor < 0) refuse(file, "cannot open");
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) refuse(file, "cannot read its size");
  return std::shared_ptr<Segment>(new Segment(file, descriptor, std::size_t(status.st_size)));
}

void Segment::back(std::size_t from, std::size_t to) {
  if (to > bytes_) {
    const std::string_view remedy = address_limit()
                                        ? "raise the limit of addresses (ulimit -v unlimited) or "
                                          "take a smaller model"
                                        : "take a smaller model or fewer spare vectors";
    throw base::Error(
        base::Fault::environment,
        fmt::format("a rank wants {} of memory for its vectors and has {} at most; {}",
                    mebibytes(to), mebibytes(bytes_), remedy));
  }
  if (descriptor_ < 0) return;
  struct statvfs space = {};
  if (fstatvfs(descriptor_, &space) != 0) refuse(file_, "cannot read how much is free");
  const std::size_t free = std::size_t(space.f_bavail) * space.f_frsize;
  const int error =
      to - from > free ? ENOSPC : posix_fallocate(descriptor_, off_t(from), off_t(to - from));
  if (error == 0) return;
  const std::string folder = file_.parent_path().string();
  throw base::Error(
      base::Fault::environment,
      fmt::format("this rank wants {} more of shared memory, {} has {} free of {}: {}; enlarge it "
                  "(mount -o remount,size=... {}, docker run --shm-size=...)",
                  mebibytes(to - from), folder, mebibytes(free),
                  mebibytes(std::size_t(space.f_blocks) * space.f_frsize), std::strerror(error),
                  folder));
}

bool Segment::owner_lives() const {
  if (descriptor_ < 0) return true;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  return fcntl(descriptor_, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::size_t segment_bytes(int ranks) {
  const auto memory = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  // All of them together take at most four times the memory in addresses.
  const std::size_t wanted = std::min(memory, 4 * memory / std::size_t(ranks));
  return within_limit(std::max(wanted, gibibyte) / gibibyte * gibibyte, ranks);
}

std::size_t within_limit(std::size_t bytes, int ranks) {
  const auto limit = address_limit();
  return limit ? within(*limit, bytes, ranks) : bytes;
}

std::size_t within(std::size_t limit, std::size_t bytes, int ranks) {
  const std::size_t fits = limit / 4 / std::size_t(ranks) / mebibyte * mebibyte;
  return std::min(bytes, std::max(fits, least_bytes));
}

}  // namespace parajoule::comm
