#include "base/quantity.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace parajoule::base {
namespace {

TEST(Quantity, PowerTimesTimeIsEnergy) {
  EXPECT_EQ(Watts{50} * Seconds(2), Joules{100});
  EXPECT_EQ(Seconds(2) * Watts{50}, Joules{100});
  EXPECT_EQ(Joules{100} / Seconds(2), Watts{50});
  EXPECT_EQ(Joules{100} / Joules{50}, 2);
  EXPECT_EQ(Joules{1} + Joules{2} - Joules{0.5}, Joules{2.5});
  EXPECT_LT(Watts{1}, Watts{2});
}

TEST(Quantity, UnitsOutside) {
  EXPECT_EQ(kilowatt_hours(Joules{3.6e6}), 1);
  EXPECT_EQ(hours(std::chrono::minutes(90)), 1.5);
}

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };

static_assert(Addable<Joules, Joules>);
static_assert(!Addable<Joules, Watts>);
static_assert(!Addable<Joules, double>);
static_assert(!std::is_convertible_v<Joules, double>);
static_assert(!std::is_convertible_v<double, Watts>);

}  // namespace
}  // namespace parajoule::base
