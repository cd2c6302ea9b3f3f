#include "simulate/world.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::simulate {
namespace {

using base::Element;
using base::Seconds;
using base::Vector;
using comm::Communicator;
using testing::HasSubstr;

std::string told(int ranks, const std::function<void(Communicator&)>& body,
                 const Options& options = {}) {
  try {
    World(ranks, options).run(body);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(World, TimePassesInComputingAndWaitingOnly) {
  World world(3, {});
  world.run([&](Communicator& group) {
    EXPECT_EQ(world.now(), Seconds(0));
    group.barrier();
    EXPECT_EQ(world.now(), Seconds(0));
    world.spend(Seconds(group.rank() + 1));
    EXPECT_EQ(world.now(), Seconds(group.rank() + 1));
    group.barrier();
    EXPECT_EQ(world.now(), Seconds(3));
  });
  for (int rank = 0; rank < 3; ++rank) {
    const Account account = world.accounts()[std::size_t(rank)];
    EXPECT_EQ(account.computing, Seconds(rank + 1));
    EXPECT_EQ(account.waited, Seconds(2 - rank));
    EXPECT_EQ(account.finished, Seconds(3));
  }
}

TEST(World, GoesOnInTheOrderOfTimeAndThenOfScheduling) {
  // 1 and 2 arrive at the same moment; 1 was sent first. 0 arrives before both.
  World world(4, {});
  std::vector<int> senders;
  world.run([&](Communicator& group) {
    double value = group.rank();
    const Vector one(std::span(&value, 1));
    if (group.rank() == 3) {
      for (int i = 0; i < 3; ++i) {
        senders.push_back(group.await(Communicator::anyone, 1).from);
        group.receive(one, senders.back(), 1);
      }
      return;
    }
    world.spend(Seconds(group.rank() == 0 ? 1 : 2));
    group.send(one, 3, 1);
  });
  EXPECT_EQ(senders, (std::vector{0, 1, 2}));
}

TEST(World, ARankThatComputesLongHoldsNobodyUp) {
  World world(3, {.node = {.latency = Seconds(0.25)}});
  world.run([&](Communicator& group) {
    double value = 0;
    const Vector one(std::span(&value, 1));
    if (group.rank() == 0) return world.spend(Seconds(100));
    const int other = 3 - group.rank();
    for (int i = 0; i < 4; ++i) group.exchange(one, other, one, other, i);
    EXPECT_EQ(world.now(), Seconds(1));
  });
}

TEST(World, AskingWithoutEndWaitsForWhatHappensNext) {
  World world(2, {});
  world.run([&](Communicator& group) {
    double value = 1;
    const Vector one(std::span(&value, 1));
    if (group.rank() == 1) {
      world.spend(Seconds(5));
      return group.send(one, 0, 2);
    }
    while (!group.arrived(1, 2)) {
    }
    EXPECT_EQ(world.now(), Seconds(5));
    group.receive(one, 1, 2);
    comm::Pending sum = group.group(std::vector{0})->start_sum(one);
    while (!sum.done()) {
    }
  });
}

TEST(World, VectorOperationsTakeTheBytesTheyMove) {
  World world(1, {.device = {.memory_bytes_per_second = 100}});
  world.run([&](Communicator& group) {
    const Vector x = group.allocate(Element::float64, 10);
    const Vector y = group.allocate(Element::float64, 10);
    EXPECT_EQ(world.now(), Seconds(0));
    x.fill(2);  // writes 80 bytes
    EXPECT_DOUBLE_EQ(world.now().count(), 0.8);
    y.copy(x);  // reads 80, writes 80
    EXPECT_DOUBLE_EQ(world.now().count(), 2.4);
    y.add(x, 3);  // reads 160, writes 80
    EXPECT_DOUBLE_EQ(world.now().count(), 4.8);
    EXPECT_EQ(y.dot(x), 10 * 8 * 2);
    EXPECT_DOUBLE_EQ(world.now().count(), 6.4);
  });
}

TEST(World, WithoutNumbersVectorsAreLengths) {
  World world(4, {.device = {.memory_bytes_per_second = 1e12}, .numbers = Options::Numbers::none});
  world.run([&](Communicator& group) {
    const Vector x = group.allocate(Element::float32, std::size_t(1) << 40);
    EXPECT_EQ(x.place(), base::Place::nowhere);
    x.fill(3);
    EXPECT_DOUBLE_EQ(world.now().count(), double(std::size_t(1) << 42) / 1e12);
    EXPECT_EQ(x.sum(), 0);
    EXPECT_TRUE(x.finite());
    group.sum(x);
    group.exchange(x, group.rank() ^ 1, x, group.rank() ^ 1, 1);
    // Numbers that ranks decide by are real all the same.
    EXPECT_EQ(group.sum(double(group.rank())), 6);
    EXPECT_EQ(group.maximum(double(group.rank())), 3);
  });
}

TEST(World, IsTheSameEveryTime) {
  const auto run = [] {
    World world(7, {.ranks_per_node = 2,
                    .node = {.latency = Seconds(1e-6), .bytes_per_second = 3e9},
                    .network = {.latency = Seconds(7e-6), .bytes_per_second = 1e9}});
    world.run([&](Communicator& group) {
      const Vector x = group.allocate(Element::float32, 1001);
      for (int step = 0; step < 5; ++step) {
        world.spend(Seconds(1e-5 * (1 + (group.rank() * 31 + step * 7) % 5)));
        comm::Pending sum = group.start_sum(x);
        group.exchange(group.allocate(Element::byte, 500), (group.rank() + 1) % 7,
                       group.allocate(Element::byte, 500), (group.rank() + 6) % 7, 1);
        sum.wait();
      }
    });
    std::vector<double> times;
    for (const Account& account : world.accounts()) times.push_back(account.finished.count());
    return times;
  };
  EXPECT_EQ(run(), run());
}

TEST(World, WaitingInACatchBlockKeepsExceptionsApart) {
  World(2, {}).run([](Communicator& group) {
    const std::string own = "of rank " + std::to_string(group.rank());
    try {
      try {
        throw std::runtime_error(own);
      } catch (const std::exception&) {
        group.barrier();
        throw;
      }
    } catch (const std::exception& error) {
      EXPECT_EQ(error.what(), own);
    }
  });
}

TEST(Failure, OfARankIsRethrownAndTheOthersAreLeft) {
  EXPECT_EQ(told(3,
                 [](Communicator& group) {
                   if (group.rank() == 1)
                     throw base::Error(base::Fault::input, "image 7 is broken");
                   group.barrier();
                   ADD_FAILURE() << "nobody goes on";
                 }),
            "image 7 is broken");
}

TEST(Failure, AbandonedRanksAreNotUnwound) {
  // The destructor would wait for ever.
  struct Waits {
    ~Waits() { group.barrier(); }
    Communicator& group;
  };
  EXPECT_EQ(told(2,
                 [](Communicator& group) {
                   if (group.rank() == 1) throw std::runtime_error("oops");
                   const Waits waits{group};
                   double value = 0;
                   group.receive(Vector(std::span(&value, 1)), 1, 1);
                 }),
            "oops");
}

TEST(Failure, AllWaitingNamesWhoWaitsForWhom) {
  EXPECT_EQ(told(3,
                 [](Communicator& group) {
                   double value = 0;
                   const Vector one(std::span(&value, 1));
                   if (group.rank() == 0) group.receive(one, 1, 5);
                   if (group.rank() == 1) group.await(Communicator::anyone, 6);
                   if (group.rank() == 2) group.minimum(one);
                 }),
            "nothing moves any more: rank 0 waits for rank 1 in a message with tag 5; rank 1 waits "
            "for ranks 0 or 1 or 2 in a message with tag 6; rank 2 waits for ranks 0, 1 in minimum "
            "number 1 of 1 float64");
}

TEST(Failure, AskingForWhatNeverComesIsNoticed) {
  EXPECT_EQ(told(2,
                 [](Communicator& group) {
                   while (group.rank() == 0 && !group.arrived(1, 5)) {
                   }
                 }),
            "nothing moves any more: rank 0 waits for rank 1 in a message with tag 5");
}

TEST(Failure, DifferentCallsAreNamed) {
  EXPECT_EQ(told(2,
                 [](Communicator& group) {
                   group.sum(group.allocate(Element::float32, group.rank() == 0 ? 10 : 20));
                 }),
            "ranks make different calls: rank 0 sum number 1 of 10 float32, rank 1 sum number 1 of "
            "20 float32");
}

TEST(Failure, AMessageOfAnotherLengthIsNamed) {
  EXPECT_EQ(told(2,
                 [](Communicator& group) {
                   const Vector values =
                       group.allocate(Element::float32, group.rank() == 0 ? 100 : 101);
                   if (group.rank() == 0) group.send(values, 1, 7);
                   if (group.rank() == 1) group.receive(values, 0, 7);
                 }),
            "a message of 400 bytes with tag 7 from rank 0 came where rank 1 receives 404 bytes");
}

TEST(Failure, WritingIntoValuesOnTheirWayIsFound) {
  const Options slow{.node = {.latency = Seconds(1)}};
  World world(2, slow);
  const auto write_early = [&](auto start) {
    return told(
        2,
        [&](Communicator& group) {
          const Vector values = group.allocate(Element::float32, 100);
          comm::Pending pending = start(group, values);
          if (group.rank() == 0) values.fill(1);
          pending.wait();
        },
        slow);
  };
  EXPECT_EQ(write_early([](Communicator& group, Vector values) {
              if (group.rank() == 1) return group.start_receive(values, 0, 3);
              return group.start_send(values, 1, 3);
            }),
            "rank 0 wrote into the values of a message with tag 3 while they were on their way; "
            "wait for it first");
  EXPECT_EQ(write_early([](Communicator& group, Vector values) { return group.start_sum(values); }),
            "rank 0 wrote into the values of sum number 1 of 100 float32 while they were on "
            "their way; wait for it first");
}

int deep(int levels) {
  volatile char room[4096] = {};
  return levels == 0 ? room[0] : deep(levels - 1) + room[1] + int(room[4095] == 1);
}

TEST(Failure, NumbersThatCannotBeMeantAreRefused) {
  EXPECT_THAT(told(1, [](Communicator&) {}, {.network = {.latency = Seconds(-1)}}),
              HasSubstr("link.network.latency_seconds = -1: must be at least 0"));
  EXPECT_THAT(told(1, [](Communicator&) {}, {.node = {.bytes_per_second = 0.0}}),
              HasSubstr("link.node.bytes_per_second = 0: must be above 0"));
  EXPECT_THAT(told(1, [](Communicator&) {}, {.ranks_per_node = 0}), HasSubstr("ranks_per_node"));
}

TEST(Stacks, HoldAUsualDepth) {
  World(100, {}).run([](Communicator& group) {
    EXPECT_EQ(deep(8), 0);
    group.barrier();
  });
}

TEST(Energy, IsThatOfIdlingAndWhatComputingAndTransferringAdd) {
  // 2 s of computing, 1 s of a message that no one else needs, 3 s until all are through.
  const Options options{.node = {.bytes_per_second = 100},
                        .device = {.idle = {10}, .compute = {110}, .communicate = {40}}};
  World world(2, options);
  world.run([&](Communicator& group) {
    const Vector values = group.allocate(Element::byte, 100);
    if (group.rank() == 0) {
      world.spend(Seconds(2));
      return group.send(values, 1, 1);
    }
    group.receive(values, 0, 1);
  });
  const auto accounts = world.accounts();
  EXPECT_NEAR(accounts[0].energy(options.device, Seconds(3)).value, 3 * 10 + 2 * 100 + 30, 1e-9);
  EXPECT_NEAR(accounts[1].energy(options.device, Seconds(3)).value, 3 * 10 + 30, 1e-9);
  EXPECT_EQ(accounts[1].waited, Seconds(3));
}

TEST(CollectiveCost, SendsEachByteOfAllCopies) {
  using Kind = comm::Collective::Kind;
  for (Kind kind : {Kind::broadcast, Kind::reduce, Kind::reduce_scatter, Kind::all_gather})
    for (std::uint64_t ranks = 1; ranks <= 8; ++ranks) {
      constexpr std::uint64_t bytes = 296;  // most numbers of ranks do not divide it
      World world(int(ranks), {});
      world.run([&](Communicator& group) {
        group.start({.kind = kind, .values = group.allocate(Element::byte, bytes)}).wait();
      });
      std::uint64_t sent = 0;
      for (const Account& account : world.accounts()) sent += account.traffic.bytes;
      EXPECT_EQ(sent, (ranks - 1) * bytes) << comm::name_of(kind) << ", " << ranks << " ranks";
    }
}

}  // namespace
}  // namespace parajoule::simulate
