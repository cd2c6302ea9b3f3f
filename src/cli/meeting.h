#pragma once

// What ranks find out together before they begin: ranks that somebody else started have not been
// checked by a launcher.

#include <functional>
#include <string>

#include "base/error.h"
#include "cli/cause.h"
#include "comm/communicator.h"

namespace parajoule::cli {

/// The same on all ranks: what the first of them that failed has thrown.
class Refused : public base::Error {
 public:
  Refused(int rank, const Cause& cause);
  const int rank;
};

/// Collective. Does `act`, which says nothing to other ranks, on every rank. Where it throws on any
/// of them, throws Refused on all.
void together(comm::Communicator& world, const std::function<void()>& act);

/// Collective. The first rank's text.
std::string from_first(comm::Communicator& world, const std::string& text);

/// Collective. How many ranks have the same text as this one.
int ranks_with(comm::Communicator& world, const std::string& text);

}  // namespace parajoule::cli
