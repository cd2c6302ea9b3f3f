// The tests of methods once more, with ranks that are processes. Run under mpirun by every rank
// alike; a case takes as many of the ranks as it wants.
#include <array>
#include <cstdio>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "bodies.h"
#include "comm/mpi.h"
#include "passing.h"

namespace parajoule::methods {
namespace {

comm::Communicator* everyone = nullptr;

/// Says that a node holds only so many ranks.
class Pretending final : public Passing {
 public:
  Pretending(std::unique_ptr<Communicator> inner, comm::Nodes nodes)
      : Passing(std::move(inner)), nodes_(std::move(nodes)) {}

  comm::Nodes nodes() const override { return nodes_; }
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
    std::map<int, int> numbers;  // of nodes, anew in the order of their first ranks
    comm::Nodes nodes;
    for (const int rank : ranks)
      nodes.node.push_back(
          numbers.try_emplace(nodes_.node[std::size_t(rank)], int(numbers.size())).first->second);
    return std::make_unique<Pretending>(Passing::group(ranks), nodes);
  }

 private:
  comm::Nodes nodes_;
};

void under_mpi(const Case& wanted, const World::Body& body) {
  base::ensure(wanted.ranks <= everyone->size(), "there are ranks for every case");
  if (everyone->rank() >= wanted.ranks) return;
  std::vector<int> ranks(std::size_t(wanted.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  const comm::Nodes nodes = nodes_of(wanted);
  Pretending group(everyone->group(ranks), nodes);
  body(group, exact::real_clock());
}

/// What rank 0 has found, as numbers, to every rank of the program.
Row from_first(Row numbers) {
  double count = double(numbers.size());
  everyone->broadcast(base::Vector(std::span(&count, 1)), 0);
  numbers.resize(std::size_t(count));
  everyone->broadcast(base::Vector(std::span(numbers)), 0);
  return numbers;
}

}  // namespace

std::span<const World> worlds() {
  static constexpr std::array all{World{.name = "mpi", .run = under_mpi, .share = from_first}};
  return all;
}

}  // namespace parajoule::methods

int main(int count, char** arguments) {
  using namespace parajoule;
  testing::InitGoogleTest(&count, arguments);
  // A rank that throws leaves, so that the others learn of it.
  GTEST_FLAG_SET(catch_exceptions, false);
  comm::Mpi mpi({.give_up = base::Seconds(100)});
  int failed = 0;
  try {
    methods::everyone = &mpi.world();
    mpi.run([&](comm::Communicator&) { failed = RUN_ALL_TESTS(); });
    return failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
    mpi.abort(1);
  }
}
