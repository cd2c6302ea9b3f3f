// Seconds to add up the gradients of a ResNet-50 over the ranks of one node, in the communicator's
// memory, beside MPI_Allreduce, memcpy of as many bytes, and the bound: a loop of one rank over
// memory of its own that reads and writes as much as its part of the sum. Interleaved, so that all
// see the same disturbances.
//
//   bench/sum.sh [REPEATS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.h"
#include "bench/spread.h"
#include "comm/mpi.h"

namespace parajoule::bench {
namespace {

constexpr std::size_t resnet50 = 25'557'032;

/// One way, timed on all ranks together: a repeat takes as long as its slowest rank.
struct Way {
  std::string name;
  std::function<void()> act;
  std::vector<double> seconds = {};
};

double seconds_of(comm::Communicator& world, const std::function<void()>& act) {
  world.barrier();
  const auto begin = std::chrono::steady_clock::now();
  act();
  const base::Seconds taken = std::chrono::steady_clock::now() - begin;
  return world.maximum(taken.count());
}

class Sums {
 public:
  explicit Sums(comm::Communicator& world)
      : world_(world),
        gradients_(world.allocate(base::Element::float32, resnet50)),
        buffer_(resnet50),
        copy_(resnet50) {}

  std::vector<Way> measured(int repeats) {
    std::vector<Way> ways = {{"sum in place", [this] { world_.sum(gradients_); }},
                             {"MPI_Allreduce", [this] { allreduce(); }},
                             {"memcpy", [this] { copy(); }},
                             {"bound", [this] { bound(); }}};
    base::ensure(world_.size() == 2 || world_.size() == 4, "bounds are known for 2 and 4 ranks");
    check();
    for (int repeat = 0; repeat < repeats; ++repeat)
      for (Way& way : ways) way.seconds.push_back(seconds_of(world_, way.act));
    return ways;
  }

 private:
  /// Both sums are right before either is timed; then all is zero, which stays zero.
  void check() {
    const float right = float(world_.size() * (world_.size() + 1)) / 2;
    const auto summed = [&](std::span<float> values) {
      base::ensure(std::ranges::count(values, right) == std::ptrdiff_t(resnet50),
                   "the sum is right");
      std::ranges::fill(values, 0.0F);
    };
    gradients_.fill(world_.rank() + 1);
    std::ranges::fill(buffer_, float(world_.rank() + 1));
    world_.sum(gradients_);
    allreduce();
    summed(gradients_.as<float>());
    summed(buffer_);
  }

  void allreduce() {
    MPI_Allreduce(MPI_IN_PLACE, buffer_.data(), int(buffer_.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  void copy() { std::memcpy(copy_.data(), buffer_.data(), buffer_.size() * sizeof(float)); }

  /// A rank's part of the sum: the same share of as many vectors as there are ranks, all its own.
  void bound() {
    if (world_.size() == 2) bound_of<2>();
    if (world_.size() == 4) bound_of<4>();
  }
  template <int ranks>
  void bound_of() {
    const std::size_t share = resnet50 / ranks;
    float* const values = buffer_.data();
    for (std::size_t i = 0; i < share; ++i) {
      float sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum += values[rank * share + i];
      for (int rank = 0; rank < ranks; ++rank) values[rank * share + i] = sum;
    }
  }

  comm::Communicator& world_;
  base::Vector gradients_;
  std::vector<float> buffer_;
  std::vector<float> copy_;
};

void report(const std::vector<Way>& ways, int ranks) {
  fmt::print("sum of {} float32, {} ranks, {} repeats; milliseconds: median (least ... most)\n",
             resnet50, ranks, ways[0].seconds.size());
  for (const Way& way : ways) fmt::print("{:14}  {}\n", way.name, spread(way.seconds, 1e3));
  for (std::size_t other = 1; other < ways.size(); ++other) {
    fmt::print("{} / sum in place  {}\n", ways[other].name,
               spread(ratios(ways[other].seconds, ways[0].seconds)));
  }
}

}  // namespace
}  // namespace parajoule::bench

int main(int count, char** arguments) {
  using namespace parajoule;
  const int repeats = count > 1 ? std::atoi(arguments[1]) : 31;
  comm::Mpi mpi;
  try {
    mpi.run([&](comm::Communicator& world) {
      const auto ways = bench::Sums(world).measured(repeats);
      if (world.rank() == 0) bench::report(ways, world.size());
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    mpi.abort(1);
  }
}
