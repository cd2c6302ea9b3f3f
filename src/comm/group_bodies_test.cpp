#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "comm/bodies_test.h"

namespace parajoule::comm::bodies {
namespace {

using base::Element;
using base::Vector;
using Kind = Collective::Kind;

void groups(Communicator& world) {
  // Neighbours: every rank is in two groups at once, whose sums are in flight together.
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();
  if (world.size() < 3) return;
  const int to_right[] = {world.rank(), right};
  const int to_left[] = {left, world.rank()};
  const Vector values = world.allocate(Element::float32, 2000);
  values.fill(world.rank());
  std::unique_ptr<Communicator> a = world.group(to_right);
  std::unique_ptr<Communicator> b = world.group(to_left);
  EXPECT_EQ(a->rank(), 0);
  EXPECT_EQ(b->rank(), 1);
  Pending with_right = a->start_sum(values[{0, 1000}]);
  Pending with_left = b->start_sum(values[{1000, 2000}]);
  with_left.wait();
  with_right.wait();
  EXPECT_EQ(values.as<float>()[999], world.rank() + right);
  EXPECT_EQ(values.as<float>()[1000], world.rank() + left);
}

void groups_of_groups(Communicator& world) {
  std::vector<int> backwards(std::size_t(world.size()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const auto turned = world.group(backwards);
  EXPECT_EQ(turned->rank(), world.size() - 1 - world.rank());
  std::vector<int> every_other;
  for (int rank = turned->rank() % 2; rank < world.size(); rank += 2) every_other.push_back(rank);
  for (int again = 0; again < 3; ++again) {
    const auto part = turned->group(every_other);
    EXPECT_EQ(part->sum(1.0), double(every_other.size()));
    const Vector values = part->allocate(Element::int64, 1000);
    EXPECT_EQ(values.as<std::int64_t>()[999], 0);
    values.fill(1);
    part->sum(values);
    EXPECT_EQ(values.as<std::int64_t>()[999], std::int64_t(every_other.size()));
    every_kind(*part, values);
  }
  const int only[] = {world.rank()};
  EXPECT_EQ(world.group(only)->sum(4.0), 4);
}

void groups_that_are_not_agreed_on(Communicator& world) {
  // Members meet although the others know nothing of it, and do something else meanwhile.
  if (world.size() < 2) return;
  const int pair[] = {0, 1};
  for (int turn = 0; turn < 5; ++turn) {
    if (world.rank() < 2) {
      const auto group = world.group(pair);
      EXPECT_EQ(group->sum(double(turn)), 2 * turn);
    }
    EXPECT_EQ(world.sum(1.0), world.size());
  }
}

constexpr Body bodies[] = {
    {"groups", groups},
    {"groups_of_groups", groups_of_groups},
    {"groups_that_are_not_agreed_on", groups_that_are_not_agreed_on},
};

}  // namespace

std::span<const Body> of_groups() { return bodies; }

}  // namespace parajoule::comm::bodies
