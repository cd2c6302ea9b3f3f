#include "train/place.h"

#include <algorithm>
#include <fstream>
#include <functional>

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::train {

Machine this_machine() {
  Machine machine;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> machine.boot_id;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  machine.host = host;
  if (machine.boot_id.empty()) machine.boot_id = machine.host;
  machine.cpus = int(sysconf(_SC_NPROCESSORS_ONLN));
  struct sysinfo memory {};
  sysinfo(&memory);
  machine.memory_bytes = std::int64_t(memory.totalram) * memory.mem_unit;
  return machine;
}

namespace {

/// What two ranks compare: a number of 52 bits that a double holds exactly.
double fingerprint(const std::string& text) { return double(std::hash<std::string>{}(text) >> 12); }

constexpr std::size_t most_cores = CPU_SETSIZE;

}  // namespace

Place find_place(comm::Communicator& group, const Machine& machine,
                 const std::vector<int>& own_cores) {
  const auto ranks = std::size_t(group.size());
  std::vector<double> prints(ranks);
  prints[group.rank()] = fingerprint(machine.boot_id);
  group.sum(base::Vector(std::span(prints)));

  Place place;
  std::vector<double> machines;
  for (const double print : prints)
    if (std::ranges::find(machines, print) == machines.end()) machines.push_back(print);
  const double own = prints[group.rank()];
  place.node = int(std::ranges::find(machines, own) - machines.begin());
  place.owner = std::ranges::find(prints, own) - prints.begin() == group.rank();
  place.first_machine = place.node == 0;

  std::vector<double> cores(machines.size() * most_cores);
  for (int core : own_cores)
    if (std::size_t(core) < most_cores) cores[place.node * most_cores + core] = 1;
  group.maximum(base::Vector(std::span(cores)));
  for (std::size_t core = 0; core < most_cores; ++core)
    if (cores[place.node * most_cores + core] > 0) place.cores.push_back(int(core));
  return place;
}

}  // namespace parajoule::train
