#pragma once

// What a rank has to reach the others with.

#include <cstdint>
#include <memory>

#include "comm/communicator.h"
#include "comm/memory.h"
#include "comm/node.h"
#include "comm/options.h"
#include "comm/wire.h"

namespace parajoule::comm {

/// Counts values where they move: into a message, or between this process and another rank's
/// memory. Notes without values do not count.
class Counting {
 public:
  void moved(std::size_t bytes) {
    if (bytes == 0) return;
    total_.bytes += bytes;
    ++total_.messages;
  }
  Communicator::Traffic total() const { return total_; }

 private:
  Communicator::Traffic total_;
};

/// One rank's place in its world: what a world (threads, MPI) has to set up. The rest of comm/ is
/// written on it once.
struct Seat {
  int rank = 0;
  Nodes nodes;
  Node node;                   ///< the ranks that share memory with this one
  std::unique_ptr<Wire> wire;  ///< to the others; null if there are none
  Memory memory;               ///< of this rank's own segment
  Options options = {};
  Counting traffic = {};

  void post(int to, const Note& note) {
    if (const auto member = node.member_of(to)) return node.post(*member, note);
    wire->post(to, note);
  }
};

}  // namespace parajoule::comm
