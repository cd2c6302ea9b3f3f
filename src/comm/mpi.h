#pragma once

// Ranks as processes started by mpirun or srun. In a library of its own, `comm_mpi`; this header
// needs no MPI.

#include <functional>
#include <memory>
#include <string_view>

#include "comm/communicator.h"
#include "comm/options.h"

namespace parajoule::comm {

/// The world of all ranks that were started together. Within a node they meet in shared memory,
/// between nodes by MPI messages. One per process and only once; all calls come from the thread
/// that made it.
///
///   comm::Mpi mpi(options);
///   mpi.run([](comm::Communicator& world) { ... });
///
/// Ranks are on one node if they run on one system (boot id), see each other's shared memory, and
/// have the same PARAJOULE_NODE in their environment, if it is set.
class Mpi {
 public:
  /// Initializes MPI. Throws Error{environment} if the ranks do not find each other (srun without
  /// the right --mpi starts each of them alone), or there is no shared memory.
  explicit Mpi(Options options = {});
  /// Unless closed it tells the others that this rank failed, and leaves MPI as it is: finalizing
  /// would wait for ranks that wait for this one.
  ~Mpi();
  Mpi(const Mpi&) = delete;

  Communicator& world();

  /// Runs `body`, then closes. If it throws, the other ranks are told and it is rethrown; what is
  /// left to do then is to write one's notes and call `abort`.
  void run(const std::function<void(Communicator&)>& body);

  /// Tells all other ranks that this one has failed, and why (one line). Waiting for it ends with
  /// Error{peer} there. The first cause stands. Does not wait.
  void fail(std::string_view cause) noexcept;

  /// Ends all ranks at once. Never returns.
  [[noreturn]] void abort(int status) noexcept;

  /// Waits for all ranks to close, and finalizes MPI.
  void close();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace parajoule::comm
