#pragma once

// The way of notes from one rank to another of its node.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm/note.h"

namespace parajoule::comm {

/// A queue in shared memory with one writer and one reader and no lock: a rank that is killed in
/// the middle leaves it whole.
///   notes `read` ... `written` - 1 (modulo the slots) are under way
class Ring {
 public:
  static constexpr std::size_t slots = 64;

  /// False if there is no room.
  bool push(const Note& note) {
    const std::uint64_t at = written_.load(std::memory_order_relaxed);
    if (at - read_.load(std::memory_order_acquire) == slots) return false;
    notes_[at % slots] = note;
    written_.store(at + 1, std::memory_order_release);
    return true;
  }

  std::optional<Note> pop() {
    const std::uint64_t at = read_.load(std::memory_order_relaxed);
    if (at == written_.load(std::memory_order_acquire)) return std::nullopt;
    const Note note = notes_[at % slots];
    read_.store(at + 1, std::memory_order_release);
    return note;
  }

 private:
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  alignas(64) std::atomic<std::uint64_t> written_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};
  alignas(64) std::array<Note, slots> notes_{};
};

}  // namespace parajoule::comm
