// The worlds of a program without MPI.
#include <array>

#include "bodies.h"
#include "comm/threads.h"
#include "exact/virtual.h"

namespace parajoule::methods {
namespace {

void over_threads(const Case& wanted, const World::Body& body) {
  const comm::Threads threads(wanted.ranks, {.ranks_per_node = wanted.ranks_per_node});
  threads.run([&](comm::Communicator& world) { body(world, exact::real_clock()); });
}

void in_virtual_time(const Case& wanted, const World::Body& body) {
  simulate::World world(wanted.ranks,
                        exact::virtual_options(wanted.problem, wanted.ranks_per_node));
  world.run([&](comm::Communicator& group) { body(group, exact::clock_of(world)); });
}

}  // namespace

std::span<const World> worlds() {
  static constexpr std::array all{
      World{.name = "threads", .run = over_threads, .share = as_it_is},
      World{.name = "virtual time", .run = in_virtual_time, .share = as_it_is}};
  return all;
}

}  // namespace parajoule::methods
