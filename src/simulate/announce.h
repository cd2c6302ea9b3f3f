#pragma once

// What a sanitizer must be told of stacks that take turns on one thread. One of the files
// announce_address.cpp, announce_thread.cpp and announce_nothing.cpp is built, as the build is
// sanitized.

#include <cstddef>

namespace parajoule::simulate {

/// A stack as a sanitizer knows it.
struct Announced {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* frames = nullptr;   ///< of the address sanitizer, while another stack runs
  void* context = nullptr;  ///< of the thread sanitizer
};

/// Bytes of a stack that this build needs: a sanitizer's frames are large.
std::size_t stack_bytes();

/// A fiber has been made, or is gone.
void announce_new(Announced& fiber);
void announce_gone(Announced& fiber);

/// The thread's own stack is about to run fibers.
void announce_thread(Announced& own);

/// Right before and right after a switch. `for_good`: `from` will not be switched to again.
void announce_leaving(Announced& from, const Announced& to, bool for_good);
void announce_arrived(Announced& at, Announced& from);

/// What fibers allocate may lie on stacks that are abandoned: not to be looked for as leaks.
void announce_abandoning(bool may_be);

}  // namespace parajoule::simulate
