#pragma once

// The stacks of all fibers of a world, cut from one reserved mapping.

#include <cstddef>

namespace parajoule::simulate {

/// `count` stacks of `bytes` each. Only pages that are touched take memory: huge pages are off,
/// with them a rank would take 63 KB instead of 4. Up to `most_guarded` stacks have a page below
/// them that may not be touched; the lowest bytes of every stack are a canary.
class Stacks {
 public:
  static constexpr std::size_t most_guarded = 8192;

  /// Throws Error{environment} that names the size if so much address space is not to be had.
  Stacks(std::size_t count, std::size_t bytes);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  std::byte* bottom(std::size_t stack) const { return begin_ + stack * bytes_ + guard_; }
  std::size_t bytes() const { return bytes_ - guard_; }
  /// Whether something has been written to the lowest bytes of this stack.
  bool overflown(std::size_t stack) const;

 private:
  std::size_t count_;
  std::size_t bytes_;
  std::size_t guard_;
  std::byte* begin_;
};

}  // namespace parajoule::simulate
