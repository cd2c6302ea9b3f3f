#pragma once

// How ranks that are processes find those they share memory with. Part of `comm_mpi`.

#include <memory>
#include <vector>

#include <mpi.h>

#include "comm/communicator.h"
#include "comm/node.h"
#include "comm/options.h"
#include "comm/segment.h"

namespace parajoule::comm {

/// This rank's node, its memory shared, and the nodes of all ranks.
struct Settled {
  Nodes nodes;
  Node node;
  std::size_t
      reserved;  ///< bytes at the beginning of this rank's segment that are not to be given out
};

/// All ranks call it. Ranks are on one node if they have one boot id and one PARAJOULE_NODE and can
/// open each other's memory. The files are gone when it returns, so that a rank that is killed
/// later leaves nothing behind. Throws Error{environment} on all ranks if one has no memory to
/// share.
Settled settle(MPI_Comm world, const Options& options);

}  // namespace parajoule::comm
