#include "train/place.h"

#include <algorithm>
#include <numeric>

#include <sched.h>

#include "measure/rows.h"
#include "meter/open.h"

namespace parajoule::train {

Machine this_machine() {
  const store::Node node = measure::this_node(0);
  return {.boot_id = node.boot_id,
          .host = node.host,
          .cpus = node.cpus,
          .memory_bytes = node.memory_bytes,
          .cores = meter::own_cores(),
          .visible_devices = meter::own_visible_devices()};
}

namespace {

/// The texts of all ranks, in their order.
std::vector<std::string> gathered(comm::Communicator& group, const std::string& own) {
  std::vector<double> sizes(std::size_t(group.size()));
  sizes[group.rank()] = double(own.size());
  group.sum(base::Vector(std::span(sizes)));
  const std::vector<std::size_t> lengths(sizes.begin(), sizes.end());
  const auto begin =
      std::accumulate(lengths.begin(), lengths.begin() + group.rank(), std::size_t(0));
  std::string all(std::accumulate(lengths.begin(), lengths.end(), std::size_t(0)), ' ');
  all.replace(begin, own.size(), own);
  if (!all.empty()) group.all_gather({all.data(), all.size(), base::Element::byte}, lengths);
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (const std::size_t length : lengths) {
    texts.push_back(all.substr(at, length));
    at += length;
  }
  return texts;
}

/// The processors of the ranks of `node` together.
std::vector<int> cores_of(comm::Communicator& group, const std::vector<int>& own, int node,
                          int nodes) {
  constexpr std::size_t most = CPU_SETSIZE;
  std::vector<double> used(std::size_t(nodes) * most);
  for (const int core : own)
    if (std::size_t(core) < most) used[std::size_t(node) * most + std::size_t(core)] = 1;
  group.maximum(base::Vector(std::span(used)));
  std::vector<int> cores;
  for (std::size_t core = 0; core < most; ++core)
    if (used[std::size_t(node) * most + core] > 0) cores.push_back(int(core));
  return cores;
}

/// A text that is set and empty hides every GPU; one that is not set hides none.
constexpr char is_set = '=';

}  // namespace

Place find_place(comm::Communicator& group, const Machine& machine) {
  const std::vector<std::string> ids = gathered(group, machine.boot_id);
  std::vector<std::string> machines;
  for (const std::string& id : ids)
    if (std::ranges::find(machines, id) == machines.end()) machines.push_back(id);

  Place place;
  place.nodes = int(machines.size());
  place.node = int(std::ranges::find(machines, machine.boot_id) - machines.begin());
  place.owner = std::ranges::find(ids, machine.boot_id) - ids.begin() == group.rank();
  place.first_machine = place.node == 0;
  place.cores = cores_of(group, machine.cores, place.node, place.nodes);

  const std::vector<std::string> visible =
      gathered(group, machine.visible_devices ? is_set + *machine.visible_devices : std::string());
  for (std::size_t rank = 0; rank < ids.size(); ++rank) {
    if (ids[rank] != machine.boot_id) continue;
    if (visible[rank].empty()) {
      place.visible_devices.clear();
      break;
    }
    place.visible_devices.push_back(visible[rank].substr(1));
  }
  return place;
}

}  // namespace parajoule::train
