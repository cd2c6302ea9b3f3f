#include "exact/virtual.h"

namespace parajoule::exact {

Clock clock_of(simulate::World& world) {
  return {.now = [&world] { return world.now(); },
          .spend = [&world](base::Seconds time) { world.spend(time); }};
}

simulate::Options virtual_options(const Problem& problem, std::optional<int> ranks_per_node) {
  const simulate::Link link{.latency = problem.link.latency,
                            .bytes_per_second = problem.link.bytes_per_second};
  return {.ranks_per_node = ranks_per_node, .node = link, .network = link};
}

}  // namespace parajoule::exact
