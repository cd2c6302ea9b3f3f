#pragma once

// Which ranks run on which machine, whatever the method is told: a meter has one owner a machine.

#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace parajoule::train {

/// The machine this process runs on, and what of it this process may use.
struct Machine {
  std::string boot_id;  ///< of the kernel: tells machines apart that share a host name
  std::string host;
  int cpus = 0;
  std::int64_t memory_bytes = 0;
  std::vector<int> cores;                      ///< logical processors this process may run on
  std::optional<std::string> visible_devices;  ///< CUDA_VISIBLE_DEVICES
};
Machine this_machine();

/// Where one rank is among all.
struct Place {
  int nodes = 1;               ///< machines
  int node = 0;                ///< machines counted from 0, in the order of their first ranks
  bool owner = false;          ///< the first rank of its machine
  bool first_machine = false;  ///< rank 0's
  std::vector<int> cores;      ///< processors that the ranks of this machine may run on, together
  /// CUDA_VISIBLE_DEVICES of the ranks of this machine; empty if one of them has none and so sees
  /// every GPU.
  std::vector<std::string> visible_devices;
};

/// Collective.
Place find_place(comm::Communicator& group, const Machine& machine);

}  // namespace parajoule::train
