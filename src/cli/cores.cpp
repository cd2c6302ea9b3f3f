#include "cli/cores.h"

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

namespace parajoule::cli {
namespace {

std::vector<int> allowed_processors() {
  // More than the fixed set holds, for machines that have more.
  constexpr int most = 8192;
  cpu_set_t* set = CPU_ALLOC(most);
  std::vector<int> processors;
  if (sched_getaffinity(0, CPU_ALLOC_SIZE(most), set) == 0) {
    for (int i = 0; i < most; ++i) {
      if (CPU_ISSET_S(std::size_t(i), CPU_ALLOC_SIZE(most), set)) processors.push_back(i);
    }
  }
  CPU_FREE(set);
  return processors;
}

}  // namespace

int usable_cores(const std::filesystem::path& system) {
  std::set<std::string> cores;
  for (int processor : allowed_processors()) {
    std::ifstream file(system / fmt::format("cpu{}/topology/thread_siblings_list", processor));
    std::string siblings;
    // Where the kernel does not say, every logical processor counts as a core.
    if (!std::getline(file, siblings)) siblings = fmt::format("{}", processor);
    cores.insert(siblings);
  }
  return cores.empty() ? 1 : int(cores.size());
}

}  // namespace parajoule::cli
