#pragma once

// Ranks as threads of this process: for tests and debuggers.

#include <functional>

#include "comm/communicator.h"
#include "comm/options.h"

namespace parajoule::comm {

/// A world of ranks that are threads. They meet in memory exactly as processes of one node do.
///
///   comm::Threads(4).run([](comm::Communicator& world) { world.barrier(); });
class Threads {
 public:
  explicit Threads(int ranks, Options options = {});

  /// Runs `body` on every rank and returns when all have returned. Rethrows what the first rank to
  /// fail has thrown; the others are released with Error{peer} that names it. Each call is a new
  /// world.
  void run(const std::function<void(Communicator&)>& body) const;

 private:
  int ranks_;
  Options options_;
};

}  // namespace parajoule::comm
