#include "cli/meeting.h"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "comm/threads.h"

namespace parajoule::cli {
namespace {

/// What all of `ranks` ranks are told when `act` is done together; empty: nothing.
std::string told(int ranks, const std::function<void(int rank)>& act) {
  std::vector<std::string> told(std::size_t(ranks), "");
  comm::Threads(ranks).run([&](comm::Communicator& world) {
    try {
      together(world, [&] { act(world.rank()); });
    } catch (const Refused& refused) {
      told[std::size_t(world.rank())] = std::to_string(int(refused.fault)) + " " + refused.what() +
                                        " of " + std::to_string(refused.rank);
    }
  });
  for (const std::string& one : told) EXPECT_EQ(one, told[0]);
  return told[0];
}

TEST(Together, NothingIsSaidWhereNothingFails) {
  std::atomic<int> acted = 0;
  EXPECT_EQ(told(3, [&](int) { ++acted; }), "");
  EXPECT_EQ(acted, 3);
}

TEST(Together, AllRanksLearnWhyTheFirstFailed) {
  const std::string input = std::to_string(int(base::Fault::input));
  const std::string bug = std::to_string(int(base::Fault::bug));
  const auto missing = [](int rank) {
    if (rank > 0) throw base::Error(base::Fault::input, "no file " + std::to_string(rank));
  };
  EXPECT_EQ(told(3, missing), input + " rank 1: no file 1 of 1");
  const auto everywhere = [](int) { throw base::Error(base::Fault::input, "no file"); };
  EXPECT_EQ(told(2, everywhere), input + " no file of 0");
  EXPECT_EQ(told(2, [](int) { throw std::runtime_error("what\nelse"); }), bug + " what else of 0");
}

TEST(Together, TheFirstRanksTextGoesToAll) {
  comm::Threads(3).run([](comm::Communicator& world) {
    const std::string own(std::size_t(world.rank()) * 100 + 7, char('a' + world.rank()));
    EXPECT_EQ(from_first(world, own), "aaaaaaa");
    EXPECT_EQ(from_first(world, ""), "");
  });
}

TEST(Together, RanksCountThoseWithTheSameText) {
  comm::Threads(4).run([](comm::Communicator& world) {
    EXPECT_EQ(ranks_with(world, world.rank() < 3 ? "0,1" : "2"), world.rank() < 3 ? 3 : 1);
  });
}

}  // namespace
}  // namespace parajoule::cli
