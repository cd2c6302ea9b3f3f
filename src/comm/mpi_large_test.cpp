// More than 2^31 - 1 elements: what a count of MPI cannot say. Two ranks, 2.2 GB each.
//   mpi_large_test [--ranks-per-node=1]

#include <cstdio>
#include <exception>

#include "base/error.h"
#include "comm/mpi.h"

using namespace parajoule;

namespace {

constexpr std::size_t count = 2'200'000'000;

void marks(base::Vector values, int value) {
  for (std::size_t i : {std::size_t(0), count / 2, count - 1})
    values.as<std::byte>()[i] = std::byte(value);
}

void hold(base::Vector values, int value, const char* claim) {
  for (std::size_t i : {std::size_t(0), count / 2, count - 1})
    base::ensure(values.as<std::byte>()[i] == std::byte(value), claim);
  base::ensure(values.as<std::byte>()[1] == std::byte(0), claim);
}

void large(comm::Communicator& world) {
  const base::Vector values = world.allocate(base::Element::byte, count);
  marks(values, world.rank() + 1);
  world.sum(values);
  hold(values, 3, "2.2e9 elements are summed");
  marks(values, world.rank() + 1);
  world.broadcast(values, 1);
  hold(values, 2, "2.2e9 elements are broadcast");
  marks(values, 10 * world.rank());
  if (world.rank() == 1) world.send(values, 0, 1);
  if (world.rank() == 0) world.receive(values, 1, 1);
  hold(values, 10, "a message of 2.2e9 elements arrives");
}

}  // namespace

int main(int arguments, char**) {
  comm::Options options;
  if (arguments > 1) options.ranks_per_node = 1;
  comm::Mpi mpi(options);
  try {
    mpi.run(large);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
    mpi.abort(1);
  }
}
