#include "cli/trace_rank.h"

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "cli/cause.h"
#include "cli/exit_status.h"
#include "cli/surroundings.h"
#include "comm/mpi.h"
#include "comm/solo.h"

namespace parajoule::cli {
namespace {

/// Prints why this rank cannot go on. That another one has failed is said by rank 0 alone, and
/// late: most often that one has said it better by then, and ended all.
Status tell(int rank) {
  const Cause cause = cause_of(std::current_exception());
  const bool of_another = cause.fault == base::Fault::peer;
  if (of_another) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (!of_another || rank == 0)
    std::cerr << fmt::format("parajoule: rank {}: {}\n", rank, cause.text) << std::flush;
  return status_of(cause.fault);
}

}  // namespace

int trace_rank(const TraceWords& words) {
  const Tracing tracing(words);
  if (!place_in(environment)) {
    comm::Solo world;
    print(tracing.take_part(world, exact::real_clock()));
    return done;
  }
  comm::Mpi mpi({.ranks_per_node = tracing.ranks_per_node()});
  const int rank = mpi.world().rank();
  std::vector<exact::Line> lines;
  try {
    mpi.run(
        [&](comm::Communicator& world) { lines = tracing.take_part(world, exact::real_clock()); });
  } catch (...) {
    mpi.abort(tell(rank));
  }
  print(lines);
  return done;
}

}  // namespace parajoule::cli
