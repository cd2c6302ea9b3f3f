#include "simulate/stacks.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "base/error.h"

namespace parajoule::simulate {
namespace {

constexpr std::size_t page = 4096;
/// The canary is what nobody has touched: zero. Other bytes would take a page of each stack.
constexpr std::size_t canary_words = 8;

std::byte* reserve(std::size_t count, std::size_t bytes) {
  void* const begin = mmap(nullptr, count * bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (begin != MAP_FAILED) return static_cast<std::byte*>(begin);
  throw base::Error(
      base::Fault::environment,
      fmt::format("{} ranks in virtual time need {} MB of address space for their stacks: {}; "
                  "rehearse fewer ranks, or raise `ulimit -v`",
                  count, count * bytes >> 20, std::strerror(errno)));
}

}  // namespace

Stacks::Stacks(std::size_t count, std::size_t bytes)
    : count_(count),
      bytes_(bytes),
      guard_(count <= most_guarded ? page : 0),
      begin_(reserve(count, bytes)) {
  madvise(begin_, count_ * bytes_, MADV_NOHUGEPAGE);
  if (guard_ == 0) return;
  for (std::size_t stack = 0; stack < count_; ++stack)
    mprotect(begin_ + stack * bytes_, guard_, PROT_NONE);
}

Stacks::~Stacks() { munmap(begin_, count_ * bytes_); }

bool Stacks::overflown(std::size_t stack) const {
  const auto* words = reinterpret_cast<const std::uint64_t*>(bottom(stack));
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < canary_words; ++i) any |= words[i];
  return any != 0;
}

}  // namespace parajoule::simulate
