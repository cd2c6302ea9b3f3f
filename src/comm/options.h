#pragma once

// What a world of ranks is told when it is made.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/quantity.h"

namespace parajoule::comm {

struct Options {
  /// A rank that has waited this long reports which ranks are missing in which call.
  base::Seconds stall{60};
  /// And after this long it throws Error{peer} that names them.
  base::Seconds give_up{600};
  /// Given the report, one line, by the rank that waits; makes no call on the communicator.
  std::function<void(const std::string& line)> on_stall = {};
  /// Agrees on sequence, kind, count, element type, root, parts and name with all ranks before each
  /// collective. Ranks of one node always agree on all but the name; this adds the other nodes, at
  /// the price of a message to every rank.
  bool check_collectives = false;
  /// Where ranks that are processes of one node share memory.
  std::filesystem::path shared_memory = "/dev/shm";
  /// Pretends that a node holds only so many ranks, for tests.
  std::optional<int> ranks_per_node = {};
};

/// Throws Error{usage} that names what cannot be meant.
void check(const Options& options);

}  // namespace parajoule::comm
