// What cannot be started is refused before it is, with the reason.
#include <gmock/gmock.h>

#include "bodies.h"
#include "strategy/catalog.h"

namespace parajoule::methods {
namespace {

using testing::HasSubstr;

TEST(Refusal, OfEventsByMethodsThatStepTogether) {
  for (const std::string_view method : {"synchronous", "local_sgd"}) {
    Case wanted{.method = method, .problem = toy4(), .ranks = 4, .steps = 1};
    EXPECT_EQ(refusal(wanted), "");
    wanted.problem.events = {{1, 0}};
    EXPECT_THAT(refusal(wanted), HasSubstr("events: "));
    EXPECT_THAT(refusal(wanted), HasSubstr(std::string(method)));
  }
}

TEST(Refusal, OfProblemsForAnotherNumberOfRanks) {
  const Case wanted{.method = "synchronous", .problem = toy4(), .ranks = 3, .steps = 1};
  EXPECT_THAT(refusal(wanted), HasSubstr("curvature: for 4 ranks, but 3 train"));
}

}  // namespace
}  // namespace parajoule::methods
