#include "comm/memory.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace parajoule::comm {

Memory::Memory(std::shared_ptr<Segment> segment, std::size_t reserved)
    : segment_(std::move(segment)), backed_((reserved + page - 1) / page * page) {}

std::uint64_t Memory::take(std::size_t bytes) {
  const std::size_t size = std::max((bytes + page - 1) / page, std::size_t(1)) * page;
  const auto fits = std::ranges::find_if(free_, [&](auto& piece) { return piece.second >= size; });
  if (fits == free_.end()) {
    segment_->back(backed_, backed_ + size);
    const std::uint64_t place = backed_;
    backed_ += size;
    taken_[place] = size;
    return place;
  }
  const auto [place, length] = *fits;
  free_.erase(fits);
  if (length > size) free_[place + size] = length - size;
  taken_[place] = size;
  return place;
}

std::uint64_t Memory::take_cleared(std::size_t bytes) {
  const std::size_t before = backed_;
  const std::uint64_t place = take(bytes);
  if (place < before) std::memset(at(place), 0, bytes);
  return place;
}

void Memory::give_back(std::uint64_t place) {
  const auto taken = taken_.find(place);
  base::ensure(taken != taken_.end(), "memory is given back once");
  std::uint64_t begin = place;
  std::size_t length = taken->second;
  taken_.erase(taken);
  const auto after = free_.find(begin + length);
  if (after != free_.end()) {
    length += after->second;
    free_.erase(after);
  }
  const auto next = free_.lower_bound(begin);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      length += before->second;
    }
  }
  free_[begin] = length;
}

bool Memory::holds(const void* pointer, std::size_t bytes) const {
  const auto* first = static_cast<const std::byte*>(pointer);
  return first >= segment_->begin() && first + bytes <= segment_->begin() + backed_;
}

std::uint64_t Memory::place_of(const void* pointer) const {
  return std::uint64_t(static_cast<const std::byte*>(pointer) - segment_->begin());
}

}  // namespace parajoule::comm
