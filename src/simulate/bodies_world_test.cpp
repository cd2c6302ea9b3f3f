// What every world has to do, in virtual time: on an ideal machine and on one with links.
#include <string>

#include <gtest/gtest.h>

#include "comm/bodies_test.h"
#include "comm/sums.h"
#include "simulate/world.h"

namespace parajoule::simulate {
namespace {

using base::Seconds;

class EveryBody : public testing::TestWithParam<comm::bodies::Body> {};

TEST_P(EveryBody, HoldsForAnyRanksAndNodes) {
  struct Shape {
    int ranks;
    int per_node;
  };
  for (const Shape& shape : {Shape{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {5, 5}, {8, 3}}) {
    World(shape.ranks, {.ranks_per_node = shape.per_node}).run(GetParam().run);
    ASSERT_FALSE(HasFailure()) << shape.ranks << " ranks, " << shape.per_node << " a node";
  }
}

class EveryBodyOnLinks : public testing::TestWithParam<comm::bodies::Body> {};

TEST_P(EveryBodyOnLinks, HoldsByFormulaAndByMessages) {
  for (const comm::Sum& sum : comm::sums()) {
    Options options{.ranks_per_node = 2,
                    .node = {.latency = Seconds(1e-6), .bytes_per_second = 2e9},
                    .network = {.latency = Seconds(5e-6), .bytes_per_second = 1e9, .shared_by = 2},
                    .device = {.memory_bytes_per_second = 1e10},
                    .sum = sum_named(sum.name)};
    options.expand = options.sum != Sum::automatic;
    World(5, options).run(GetParam().run);
    ASSERT_FALSE(HasFailure()) << sum.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Virtual, EveryBody, testing::ValuesIn(comm::bodies::all()),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Virtual, EveryBodyOnLinks, testing::ValuesIn(comm::bodies::of_any_sum()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace parajoule::simulate
