#include "comm/desk.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace parajoule::comm {
namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* at_most) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, at_most,
                 nullptr, 0);
}

}  // namespace

void Bell::ring() {
  rung_.fetch_add(1, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) != 0) futex(rung_, FUTEX_WAKE, INT_MAX, nullptr);
}

void Bell::sleep(std::uint32_t since, base::Seconds at_most) {
  const double whole = std::floor(at_most.count());
  const timespec limit = {time_t(whole), long((at_most.count() - whole) * 1e9)};
  // Whoever rings either sees that this rank sleeps, or is seen by the comparison in the kernel.
  asleep_.store(1, std::memory_order_seq_cst);
  if (rung() == since) futex(rung_, FUTEX_WAIT, since, &limit);
  asleep_.store(0, std::memory_order_relaxed);
}

}  // namespace parajoule::comm
