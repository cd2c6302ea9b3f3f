// Every body once more, with ranks that are processes. Run under mpirun, by every rank alike:
//   mpi_test [--ranks-per-node=N]

#include "comm/mpi.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "comm/bodies_test.h"

namespace parajoule::comm {
namespace {

Communicator* world = nullptr;

class EveryBody : public testing::TestWithParam<bodies::Body> {};

TEST_P(EveryBody, HoldsUnderMpi) { GetParam().run(*world); }

INSTANTIATE_TEST_SUITE_P(Mpi, EveryBody, testing::ValuesIn(bodies::all()),
                         [](const auto& info) { return std::string(info.param.name); });

int run(Mpi& mpi) {
  world = &mpi.world();
  int failed = 0;
  mpi.run([&](Communicator&) { failed = RUN_ALL_TESTS(); });
  return failed;
}

}  // namespace
}  // namespace parajoule::comm

int main(int count, char** arguments) {
  using namespace parajoule::comm;
  testing::InitGoogleTest(&count, arguments);
  // A rank that throws leaves, so that the others learn of it.
  GTEST_FLAG_SET(catch_exceptions, false);
  Options options{.give_up = parajoule::base::Seconds(50)};
  constexpr std::string_view per_node = "--ranks-per-node=";
  if (count > 1 && std::string_view(arguments[1]).starts_with(per_node))
    options.ranks_per_node = std::atoi(arguments[1] + per_node.size());
  Mpi mpi(options);
  try {
    return run(mpi);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
    mpi.abort(1);
  }
}
