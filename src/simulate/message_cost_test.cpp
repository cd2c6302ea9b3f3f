// What messages cost that meet on their way.
#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "simulate/wire_test.h"

namespace parajoule::simulate {
namespace {

using base::Vector;
using comm::Communicator;

constexpr std::size_t count = 84'000;  ///< bytes

TEST(MessageCost, IsSharedByThoseWhoMeetInAPort) {
  // Three send to rank 0 at once: each has a third of its port.
  const auto through = times({.node = wire}, {0, 0, 0, 0}, [](Communicator& group) {
    std::vector<std::byte> values(count);
    const Vector all{std::span(values)};
    if (group.rank() > 0) return group.send(all, 0, 1);
    std::vector<std::vector<std::byte>> in(4, values);
    std::vector<comm::Pending> receives;
    for (int i = 1; i < 4; ++i)
      receives.push_back(group.start_receive(Vector(std::span(in[std::size_t(i)])), i, 1));
  });
  for (double one : through) EXPECT_NEAR(one, latency + 3 * count / bandwidth, 1e-12);
}

TEST(MessageCost, OfLongOnesBeginsWhenTheyAreReceived) {
  const Options links{.node = wire};
  const auto send = [&](std::size_t bytes) {
    return times(links, {0, 1}, [&](Communicator& group) {
      std::vector<std::byte> values(bytes);
      const Vector all{std::span(values)};
      if (group.rank() == 0) return group.send(all, 1, 1);
      group.receive(all, 0, 1);
    });
  };
  const auto brief = send(64);
  EXPECT_EQ(brief[0], 0);
  EXPECT_EQ(brief[1], 1);
  const auto longer = send(count);
  for (double through : longer) EXPECT_NEAR(through, 1 + latency + count / bandwidth, 1e-12);
}

TEST(MessageCost, ALaterMessageSharesWhatIsLeft) {
  // The first is half through when the second joins: half of it at half the pace, and the second's
  // last half alone.
  const double alone = count / bandwidth;
  const auto through =
      times({.node = {.bytes_per_second = bandwidth}}, {0, 0, alone / 2}, [](Communicator& group) {
        std::vector<std::byte> values(count);
        const Vector all{std::span(values)};
        if (group.rank() > 0) return group.send(all, 0, 1);
        std::vector<std::byte> second(count);
        comm::Pending other = group.start_receive(Vector(std::span(second)), 2, 1);
        group.receive(all, 1, 1);
      });
  EXPECT_NEAR(through[1], 1.5 * alone, 1e-12);
  EXPECT_NEAR(through[2], 2 * alone, 1e-12);
}

}  // namespace
}  // namespace parajoule::simulate
