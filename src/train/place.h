#pragma once

// Which ranks run on which machine, whatever the method is told: a meter has one owner a machine.

#include <string>
#include <vector>

#include "comm/communicator.h"

namespace parajoule::train {

/// The machine this process runs on.
struct Machine {
  std::string boot_id;  ///< of the kernel: tells machines apart that share a host name
  std::string host;
  int cpus = 0;
  std::int64_t memory_bytes = 0;
};
Machine this_machine();

/// Where one rank is among all.
struct Place {
  int node = 0;                ///< machines counted from 0, in the order of their first ranks
  bool owner = false;          ///< the first rank of its machine
  bool first_machine = false;  ///< rank 0's
  std::vector<int> cores;      ///< processors that the ranks of this machine may run on, together
};

/// Collective.
Place find_place(comm::Communicator& group, const Machine& machine,
                 const std::vector<int>& own_cores);

}  // namespace parajoule::train
