#include "comm/threads.h"

#include <string>

#include <gtest/gtest.h>

#include "comm/bodies_test.h"

namespace parajoule::comm {
namespace {

class EveryBody : public testing::TestWithParam<bodies::Body> {};

TEST_P(EveryBody, HoldsForAnyRanksAndNodes) {
  constexpr int all = 8;
  for (int ranks : {1, 2, 3, 4, 5, all}) {
    for (int per_node : {1, 2, 3, all}) {
      if (ranks == 4 && per_node != 2) continue;
      const Options options{.give_up = base::Seconds(60), .ranks_per_node = per_node};
      Threads(ranks, options).run(GetParam().run);
      ASSERT_FALSE(HasFailure()) << ranks << " ranks, " << per_node << " a node";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, EveryBody, testing::ValuesIn(bodies::all()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace parajoule::comm
