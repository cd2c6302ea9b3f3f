#pragma once

// Calls drawn by chance, for stress tests in every world.

#include <cstdint>

#include "comm/communicator.h"

namespace parajoule::comm::bodies {

/// Some hundred collectives and messages of all kinds, element types and lengths on groups drawn by
/// chance, several under way at a time and waited for in another order on every rank, each held to
/// its definition by GoogleTest's expectations. Equal seeds give equal calls. All ranks call it.
void random_calls(Communicator& world, std::uint64_t seed);

}  // namespace parajoule::comm::bodies
