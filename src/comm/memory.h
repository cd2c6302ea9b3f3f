#pragma once

// Carving vectors out of a rank's segment.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "comm/segment.h"

namespace parajoule::comm {

/// Gives out pieces of one segment and takes them back. Known to its own rank only: others are told
/// offsets.
class Memory {
 public:
  /// The first `reserved` bytes of the segment, backed already, are someone else's.
  Memory(std::shared_ptr<Segment> segment, std::size_t reserved);

  /// The offset of `bytes` bytes, page-aligned, not cleared. Throws Error{environment}.
  std::uint64_t take(std::size_t bytes);
  /// The same, zero.
  std::uint64_t take_cleared(std::size_t bytes);
  void give_back(std::uint64_t place);

  bool holds(const void* pointer, std::size_t bytes) const;
  std::byte* at(std::uint64_t place) const { return segment_->begin() + place; }
  std::uint64_t place_of(const void* pointer) const;

 private:
  static constexpr std::size_t page = 4096;

  std::shared_ptr<Segment> segment_;
  std::size_t backed_;                          ///< bytes from the beginning that are there
  std::map<std::uint64_t, std::size_t> taken_;  ///< offset -> bytes
  std::map<std::uint64_t, std::size_t> free_;   ///< offset -> bytes, below `backed_`
};

}  // namespace parajoule::comm
