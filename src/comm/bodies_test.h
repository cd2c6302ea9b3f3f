#pragma once

// What every world has to do, told by each rank with GoogleTest's expectations: run over threads,
// and under mpirun.

#include <cstddef>
#include <span>
#include <vector>

#include "base/vector.h"
#include "comm/communicator.h"

namespace parajoule::comm::bodies {

struct Body {
  const char* name;
  void (*run)(Communicator& world);
};

std::span<const Body> of_collectives();
std::span<const Body> of_sums();
std::span<const Body> of_messages();
std::span<const Body> of_groups();
/// What only the world's own way of adding up promises: its order, its rounding, its traffic.
std::span<const Body> of_own_sums();
std::vector<Body> all();
std::vector<Body> of_any_sum();  ///< all but `of_own_sums`

/// Numbers into elements of any type, and back.
void store(base::Vector values, const std::vector<double>& numbers);
std::vector<double> loaded(base::Vector values);

/// Memory of the communicator, or of no one's.
class Room {
 public:
  Room(Communicator& group, base::Element element, std::size_t count) : own_(count * 8 + 8) {
    allocated_ = group.allocate(element, count);
    on_heap_ = base::Vector(own_.data(), count, element);
  }
  base::Vector allocated() const { return allocated_; }
  base::Vector on_heap() const { return on_heap_; }

 private:
  std::vector<std::byte> own_;
  base::Vector allocated_;
  base::Vector on_heap_;
};

/// Every collective on these values, against its definition.
void every_kind(Communicator& group, base::Vector values);

}  // namespace parajoule::comm::bodies
