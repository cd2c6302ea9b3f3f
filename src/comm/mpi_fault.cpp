// A world in which one rank breaks, to be run under mpirun by mpi_fault_test; every rank prints
// what it is told.
//   mpi_fault throw|kill|leave|shm|nodes RANK [RANKS_PER_NODE]

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

#include "comm/mpi.h"

using namespace parajoule;

namespace {

void breaks(std::string_view how) {
  if (how == "kill") std::raise(SIGKILL);
  if (how == "leave") _exit(0);
  throw std::runtime_error("disk full");
}

void say_node(const comm::Communicator& world) {
  const comm::Nodes nodes = world.nodes();
  std::printf("rank %d is on node %d of %d\n", world.rank(), nodes.node[std::size_t(world.rank())],
              nodes.count());
}

int run(std::string_view how, int broken, const comm::Options& options) {
  comm::Mpi mpi(options);
  try {
    mpi.run([&](comm::Communicator& world) {
      const base::Vector values = world.allocate(base::Element::float32, 100'000);
      world.sum(values);
      if (how == "nodes") return say_node(world);
      if (world.rank() == broken) breaks(how);
      world.sum(values);
    });
  } catch (const std::exception& error) {
    std::printf("rank %d was told: %s\n", mpi.world().rank(), error.what());
    std::fflush(stdout);
    // As a real program writes its notes before it ends the others.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::signal(SIGTERM, SIG_DFL);
    mpi.abort(4);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  // mpirun ends the others with it once one is gone; they have something to say first.
  std::signal(SIGTERM, SIG_IGN);
  comm::Options options;
  if (count > 3) options.ranks_per_node = std::atoi(arguments[3]);
  const std::string_view how = arguments[1];
  if (how == "shm") options.shared_memory = "/nowhere";
  try {
    return run(how, std::atoi(arguments[2]), options);
  } catch (const std::exception& error) {
    std::printf("was told: %s\n", error.what());
    return 3;
  }
}
