#pragma once

// A function with a stack of its own that can stop in the middle and be gone on with.

#include <cstddef>

#include "simulate/announce.h"

namespace parajoule::simulate {

/// One that has not ended is abandoned by the destructor, never unwound: what lies on its stack is
/// left as it is.
class Fiber {
 public:
  /// `body(argument)` lets no exception out.
  Fiber(std::byte* bottom, std::size_t bytes, void (*body)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Called on the thread's stack: runs the fiber until it gives way or ends.
  void resume();
  /// Called on the fiber: goes back to whoever resumed it.
  void give_way();
  bool ended() const { return ended_; }

 private:
  /// What the C++ library keeps for each thread: exceptions being handled or thrown. With fibers
  /// each must have its own, or one would rethrow another's.
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  struct Entry;

  void swap_exceptions();

  void* context_;          ///< of the fiber while it rests
  void* outer_ = nullptr;  ///< of the thread while the fiber runs
  void (*body_)(void*);
  void* argument_;
  bool ended_ = false;
  Exceptions others_;
  Announced own_stack_;
  Announced outer_stack_;
};

}  // namespace parajoule::simulate
