#pragma once

// What stands at the beginning of every rank's segment: where the others find it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sched.h>

#include "base/quantity.h"
#include "comm/note.h"
#include "comm/ring.h"

namespace parajoule::comm {

/// A rank sleeps on its own bell, and whoever has something for it rings.
class Bell {
 public:
  /// To be read before one looks for what there is to do: `sleep` returns at once if the bell has
  /// been rung since.
  std::uint32_t rung() const { return rung_.load(std::memory_order_seq_cst); }
  void ring();
  void sleep(std::uint32_t since, base::Seconds at_most);

 private:
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  std::atomic<std::uint32_t> rung_{0};
  std::atomic<std::uint32_t> asleep_{0};
};

/// Lies in shared memory, one a rank; the rings of the ranks of its node follow it.
struct Desk {
  enum class State : std::uint32_t { present, left, failed };

  alignas(64) Bell bell;
  /// Set by others: one of the node has left or failed, look at all desks.
  alignas(64) std::atomic<std::uint32_t> alarm{0};
  /// Below: written by its owner, before `state` says so.
  alignas(64) std::atomic<State> state{State::present};
  std::int32_t failed_rank = 0;
  std::array<char, 512> failure = {};
  cpu_set_t cores = {};  ///< on which the owner may run
};

}  // namespace parajoule::comm
