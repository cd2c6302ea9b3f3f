#include "simulate/combining.h"

#include <cstring>

#include "comm/combine.h"

namespace parajoule::simulate {
namespace {

using Kind = comm::Collective::Kind;

std::byte* bytes_of(const Contribution& member) {
  return static_cast<std::byte*>(member.values.data());
}

/// `from`'s elements `range` to takers else.
void spread(const std::vector<Contribution>& members, std::size_t from, base::Range range,
            std::size_t width) {
  for (const Contribution& to : members) {
    if (&to == &members[from] || !to.values.data()) continue;
    std::byte* const there = bytes_of(to) + range.begin * width;
    if (members[from].values.data())
      std::memmove(there, bytes_of(members[from]) + range.begin * width, range.size() * width);
    else
      std::memset(there, 0, range.size() * width);
  }
}

/// All of the values, added up (or their minimum, maximum) for each node and then over the nodes.
void add_up(const comm::Collective& call, const comm::Topology& topology,
            const std::vector<Contribution>& members) {
  const comm::Combination empty{.kind = comm::arithmetic(call.kind),
                                .element = call.values.element(),
                                .count = call.values.count()};
  std::vector<std::byte*> takers;
  for (std::size_t member = 0; member < members.size(); ++member) {
    const bool takes = call.kind != Kind::reduce || int(member) == call.root;
    if (takes && members[member].values.data()) takers.push_back(bytes_of(members[member]));
  }
  std::vector<std::vector<std::byte>> partial(std::size_t(topology.node_count()));
  comm::Combination whole = empty;
  for (int node = 0; node < topology.node_count(); ++node) {
    comm::Combination here = empty;
    for (int member : topology.on_node(node)) {
      const Contribution& one = members[std::size_t(member)];
      if (one.values.data()) here.from.push_back({bytes_of(one), one.factor});
    }
    if (topology.node_count() == 1) {
      here.to = takers;
      return comm::combine(here);
    }
    if (here.from.empty()) continue;
    auto& sum = partial[std::size_t(node)];
    sum.resize(call.values.bytes());
    here.to = {sum.data()};
    comm::combine(here);
    whole.from.push_back({sum.data(), 1});
  }
  whole.to = takers;
  comm::combine(whole);
}

}  // namespace

void combine(const comm::Collective& call, const comm::Topology& topology,
             const std::vector<Contribution>& members) {
  const std::size_t width = base::bytes_of(call.values.element());
  switch (call.kind) {
    case Kind::barrier:
      return;
    case Kind::broadcast:
      return spread(members, std::size_t(call.root), {0, call.values.count()}, width);
    case Kind::all_gather: {
      const auto parts = comm::blocks(call, topology.size());
      for (std::size_t member = 0; member < members.size(); ++member)
        spread(members, member, parts[member], width);
      return;
    }
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
    case Kind::reduce:
    case Kind::reduce_scatter:
      return add_up(call, topology, members);
  }
}

}  // namespace parajoule::simulate
