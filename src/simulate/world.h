#pragma once

// A world of ranks in virtual time.

#include <functional>
#include <memory>
#include <vector>

#include "base/quantity.h"
#include "comm/communicator.h"
#include "simulate/account.h"
#include "simulate/options.h"

namespace parajoule::simulate {

/// Ranks are fibers of the calling thread, one runs at a time, and runs are equal to the last bit.
/// Time passes only in `spend`, in vector operations and in waiting.
///
///   simulate::World world(1024, options);
///   world.run([&](comm::Communicator& group) { world.spend(base::Seconds(1)); group.barrier(); });
///
/// A method never waits while an exception unwinds its stack. It must not keep a pointer into a
/// vector that is on its way: that is found out with real numbers.
class World {
 public:
  /// Throws Error{input} for options that cannot be meant, Error{environment} where so many ranks
  /// do not fit.
  World(int ranks, const Options& options);
  ~World();

  /// Runs `body` on every rank and returns when all have returned; once. Rethrows what the first
  /// rank to fail has thrown; the others are abandoned where they are, never unwound. If all wait
  /// and nothing is left to happen, throws Error{bug} that names who waits for whom.
  void run(const std::function<void(comm::Communicator&)>& body);

  // Of the rank that runs:

  base::Seconds now() const;
  /// The rank computes so long. `what` is for the picture and lives for ever.
  void spend(base::Seconds duration, std::string_view what = "compute");
  const Account& so_far() const;

  /// Of each rank, after `run`.
  std::vector<Account> accounts() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace parajoule::simulate
