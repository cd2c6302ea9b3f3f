// Every body once more, with ranks that are processes. Run under mpirun, by every rank alike:
//   mpi_test [--ranks-per-node=N | --sum=NAME]      with --sum nodes of two ranks are pretended

#include "comm/mpi.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "comm/bodies_test.h"
#include "comm/sums.h"

namespace parajoule::comm {
namespace {

Communicator* world = nullptr;

class EveryBody : public testing::TestWithParam<bodies::Body> {};

TEST_P(EveryBody, HoldsUnderMpi) { GetParam().run(*world); }

INSTANTIATE_TEST_SUITE_P(Mpi, EveryBody, testing::ValuesIn(bodies::of_any_sum()),
                         [](const auto& info) { return std::string(info.param.name); });

class EveryOwnBody : public testing::TestWithParam<bodies::Body> {};

TEST_P(EveryOwnBody, HoldsUnderMpi) { GetParam().run(*world); }

INSTANTIATE_TEST_SUITE_P(Mpi, EveryOwnBody, testing::ValuesIn(bodies::of_own_sums()),
                         [](const auto& info) { return std::string(info.param.name); });

int run(Mpi& mpi, const std::optional<std::string>& sum) {
  int failed = 0;
  mpi.run([&](Communicator& own) {
    std::optional<Summing> summing;
    if (sum) summing.emplace(own, comm::sum(*sum));
    world = sum ? static_cast<Communicator*>(&*summing) : &own;
    if (sum) GTEST_FLAG_SET(filter, "-*OwnBody*");
    failed = RUN_ALL_TESTS();
  });
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
  constexpr std::string_view by = "--sum=";
  const std::string_view argument = count > 1 ? arguments[1] : "";
  std::optional<std::string> sum;
  if (argument.starts_with(per_node))
    options.ranks_per_node = std::atoi(arguments[1] + per_node.size());
  if (argument.starts_with(by)) {
    sum = argument.substr(by.size());
    options.ranks_per_node = 2;
  }
  Mpi mpi(options);
  try {
    return run(mpi, sum);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
    mpi.abort(1);
  }
}
