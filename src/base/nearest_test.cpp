#include "base/nearest.h"

#include <array>

#include <gtest/gtest.h>

namespace parajoule::base {
namespace {

constexpr std::array<std::string_view, 4> names{"period", "momentum", "topology", "ring"};

TEST(Nearest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest("peroid", names), "period");
  EXPECT_EQ(nearest("momentun", names), "momentum");
  EXPECT_EQ(nearest("rong", names), "ring");
  EXPECT_EQ(nearest("ring", names), "ring");
  EXPECT_EQ(nearest("rnig", names), "ring");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("elephant", names), std::nullopt);
  EXPECT_EQ(nearest("", {}), std::nullopt);
}

TEST(Nearest, TakesTheFirstOfEqualOnes) {
  constexpr std::array<std::string_view, 2> twins{"cat", "car"};
  EXPECT_EQ(nearest("caz", twins), "cat");
}

TEST(Hint, AsksOrLists) {
  EXPECT_EQ(hint("peroid", names), "; did you mean 'period'?");
  EXPECT_EQ(hint("elephant", names), "; known: period, momentum, topology, ring");
  EXPECT_EQ(hint("x", {}), "; there are none");
}

}  // namespace
}  // namespace parajoule::base
