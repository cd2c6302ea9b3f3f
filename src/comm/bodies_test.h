#pragma once

// What every world has to do, told by each rank with GoogleTest's expectations: run over threads,
// and under mpirun.

#include <span>

#include "comm/communicator.h"

namespace parajoule::comm::bodies {

struct Body {
  const char* name;
  void (*run)(Communicator& world);
};

std::span<const Body> all();

}  // namespace parajoule::comm::bodies
