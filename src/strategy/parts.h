#pragma once

// What each rank does in a method, and what the method refuses before the start: the `part` of the
// catalog's rows (catalog.h), and options that more than the rows must know.

#include "base/settings.h"
#include "comm/communicator.h"
#include "strategy/biased_local_sgd.h"
#include "strategy/catalog.h"
#include "strategy/daso_pace.h"
#include "strategy/post_local_sgd.h"

namespace parajoule::strategy {

/// Every rank trains and takes the same share; nothing is refused.
Part equal_parts(int rank, int ranks, const comm::Nodes&, const base::Settings&);

Part part_of_biased_local_sgd(int rank, int ranks, const comm::Nodes&, const base::Settings&);
Part part_of_coarse_sparse(int rank, int ranks, const comm::Nodes&, const base::Settings&);
Part part_of_daso(int rank, int ranks, const comm::Nodes&, const base::Settings&);
Part part_of_hierarchical_parallel_sgd(int rank, int ranks, const comm::Nodes&,
                                       const base::Settings&);
Part part_of_overlap_local_sgd(int rank, int ranks, const comm::Nodes&, const base::Settings&);
Part part_of_pipe_sgd(int rank, int ranks, const comm::Nodes&, const base::Settings&);
Part part_of_post_local_sgd(int rank, int ranks, const comm::Nodes&, const base::Settings&);
/// Of methods with a `topology` (schedule/topology.h).
Part part_on_graph(int rank, int ranks, const comm::Nodes&, const base::Settings&);

BiasedLocalSgd::Options biased_local(const base::Settings&);
DasoCycle::Options daso_cycle(const base::Settings&);
PostLocalSgd::Options post_local(const base::Settings&);

}  // namespace parajoule::strategy
