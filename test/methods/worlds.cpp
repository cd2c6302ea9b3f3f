// The worlds of a program without MPI.
#include <array>

#include "bodies.h"
#include "comm/threads.h"

namespace parajoule::methods {
namespace {

void over_threads(const Case& wanted, const World::Body& body) {
  const comm::Threads threads(wanted.ranks, {.ranks_per_node = wanted.ranks_per_node});
  threads.run([&](comm::Communicator& world) { body(world, exact::real_clock()); });
}

}  // namespace

std::span<const World> worlds() {
  static constexpr std::array all{World{.name = "threads", .run = over_threads, .share = as_it_is}};
  return all;
}

}  // namespace parajoule::methods
