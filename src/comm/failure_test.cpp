// What ranks are told when one of them fails, leaves, stalls or makes another call.

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "base/error.h"
#include "comm/failing.h"
#include "comm/threads.h"

namespace parajoule::comm {
namespace {

using base::Element;
using base::Error;
using base::Fault;
using base::Seconds;
using base::Vector;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = Collective::Kind;

/// What came of a run: what each rank was told, and what the caller was.
struct Outcome {
  std::vector<std::string> ranks;  ///< empty: it returned
  std::string caller;
  Fault fault = Fault::bug;
};

Outcome outcome(const Threads& world, int ranks, const std::function<void(Communicator&)>& body) {
  Outcome result{.ranks = std::vector<std::string>(std::size_t(ranks)), .caller = {}};
  try {
    world.run([&](Communicator& group) {
      try {
        body(group);
      } catch (const std::exception& error) {
        result.ranks[std::size_t(group.rank())] = error.what();
        throw;
      }
    });
  } catch (const Error& error) {
    result.caller = error.what();
    result.fault = error.fault;
  } catch (const std::exception& error) {
    result.caller = error.what();
  }
  return result;
}

void pause(double seconds) { std::this_thread::sleep_for(Seconds(seconds)); }

TEST(Failure, OfOneRankReleasesTheOthersAndIsRethrown) {
  for (int per_node : {3, 1}) {
    const Threads world(3, {.ranks_per_node = per_node});
    const Outcome told = outcome(world, 3, [](Communicator& group) {
      if (group.rank() == 2) throw Error(Fault::input, "image 7 is broken");
      const Vector values = group.allocate(Element::float32, 1000);
      group.sum(values);
    });
    EXPECT_EQ(told.caller, "image 7 is broken");
    EXPECT_EQ(told.fault, Fault::input);
    EXPECT_THAT(told.ranks, ElementsAre("rank 2 failed: image 7 is broken",
                                        "rank 2 failed: image 7 is broken", "image 7 is broken"));
  }
}

TEST(Failure, ReachesWhoeverWaitsForAMessage) {
  const Outcome told = outcome(Threads(3), 3, [](Communicator& group) {
    if (group.rank() == 2) throw std::runtime_error("oops");
    double value = 0;
    if (group.rank() == 0) group.await(Communicator::anyone, 1);
    if (group.rank() == 1) group.receive(Vector(std::span(&value, 1)), 0, 1);
  });
  EXPECT_EQ(told.caller, "oops");
  EXPECT_THAT(told.ranks, ElementsAre("rank 2 failed: oops", "rank 2 failed: oops", "oops"));
}

TEST(Failure, DoesNotWaitForWhatIsUnderWayWhileItUnwinds) {
  const Outcome told = outcome(Threads(2), 2, [](Communicator& group) {
    if (group.rank() == 1) {
      pause(0.05);
      return;
    }
    const Vector values = group.allocate(Element::float32, 1000);
    const Pending under_way = group.start_sum(values);
    throw std::runtime_error("stopped");
  });
  EXPECT_EQ(told.caller, "stopped");
}

TEST(Failure, ARankThatHasLeftIsMissed) {
  const Outcome told = outcome(Threads(2), 2, [](Communicator& group) {
    if (group.rank() == 0) group.minimum(1.0);
  });
  EXPECT_EQ(told.caller,
            "rank 1 has left, and rank 0 waits for it in minimum number 1 of 1 float64");
  EXPECT_EQ(told.fault, Fault::peer);
}

TEST(Failure, OfAllWhoCouldSendIsNoticed) {
  const Outcome told = outcome(Threads(3), 3, [](Communicator& group) {
    if (group.rank() != 0) return;
    const int others[] = {0, 1, 2};
    double value = 0;
    group.group(others)->receive(Vector(std::span(&value, 1)), 1, 5);
  });
  EXPECT_EQ(told.caller, "rank 1 has left, and rank 0 waits for it in a message with tag 5");
}

TEST(Failure, LastWordsOfARankThatHasLeftCount) {
  Threads(2).run([](Communicator& group) {
    std::vector<double> values(3, 1);
    if (group.rank() == 1) return group.send(Vector(std::span(values)), 0, 1);
    pause(0.05);
    group.receive(Vector(std::span(values)), 1, 1);
  });
}

TEST(Stall, IsReportedByNameAndGoesOn) {
  for (int per_node : {4, 1}) {
    std::mutex mutex;
    std::vector<std::string> lines;
    const Options options{.stall = Seconds(1.0),
                          .on_stall =
                              [&](const std::string& line) {
                                const std::lock_guard lock(mutex);
                                lines.push_back(line);
                              },
                          .ranks_per_node = per_node};
    Threads(4, options).run([](Communicator& group) {
      const Vector values = group.allocate(Element::float32, 1000);
      group.sum(values);
      if (group.rank() == 1) pause(0.2);  // late, but not the one who is missed
      if (group.rank() == 3) pause(2);
      group.start({.values = values, .name = "gradients 5"}).wait();
    });
    ASSERT_FALSE(lines.empty());
    for (const std::string& line : lines) {
      EXPECT_THAT(line, HasSubstr("has waited"));
      EXPECT_THAT(line, HasSubstr("s in sum number 2 of 1000 float32 'gradients 5' for rank 3"));
    }
  }
}

TEST(Stall, EndsInTheEnd) {
  for (int per_node : {2, 1}) {
    const Threads world(
        2, {.stall = Seconds(0.1), .give_up = Seconds(0.3), .ranks_per_node = per_node});
    const Outcome told = outcome(world, 2, [](Communicator& group) {
      if (group.rank() == 1) pause(0.8);
      group.barrier();
    });
    EXPECT_EQ(told.caller, "rank 1 did not come to barrier number 1 in 0 s");
    EXPECT_EQ(told.fault, Fault::peer);
    EXPECT_EQ(told.ranks[1], told.caller);
  }
}

/// Rank 0 makes one call, rank 1 the other.
std::string told_of(const Options& options, const Collective& one, const Collective& other) {
  const Outcome told = outcome(Threads(2, options), 2, [&](Communicator& group) {
    Collective call = group.rank() == 0 ? one : other;
    const Vector values = group.allocate(Element::float64, 100);
    if (call.values.count() > 0)
      call.values = Vector(values.data(), call.values.count(), call.values.element());
    group.start(call).wait();
  });
  EXPECT_EQ(told.fault, Fault::bug);
  EXPECT_THAT(told.ranks, testing::Contains(HasSubstr("ranks make different calls: ")));
  EXPECT_THAT(told.ranks, Not(testing::Contains(IsEmpty())));
  return told.caller;
}

TEST(DifferentCalls, AreNamed) {
  const Vector ten(nullptr, 10, Element::float32);
  const Vector twenty(nullptr, 20, Element::float32);
  const Vector half(nullptr, 20, Element::float16);
  const Vector fifty(nullptr, 50, Element::float32);
  // Ranks of one node notice by themselves; of two nodes if they are told to check.
  for (const Options& options : {Options{}, Options{.check_collectives = true},
                                 Options{.check_collectives = true, .ranks_per_node = 1}}) {
    const auto told = [&](const Collective& one, const Collective& other) {
      return told_of(options, one, other);
    };
    EXPECT_THAT(told({.values = ten}, {.values = twenty}),
                AllOf(HasSubstr("rank 0 sum number 1 of 10 float32"),
                      HasSubstr("rank 1 sum number 1 of 20 float32")));
    EXPECT_THAT(told({.values = twenty}, {.values = half}), HasSubstr("20 float16"));
    EXPECT_THAT(told({.values = ten}, {.kind = Kind::barrier}), HasSubstr("barrier number 1"));
    EXPECT_THAT(told({.kind = Kind::broadcast, .values = ten, .root = 0},
                     {.kind = Kind::broadcast, .values = ten, .root = 1}),
                HasSubstr("with root 1"));
    EXPECT_THAT(told({.kind = Kind::all_gather, .values = ten, .lengths = {4, 6}},
                     {.kind = Kind::all_gather, .values = ten, .lengths = {6, 4}}),
                HasSubstr("in other parts"));
    EXPECT_THAT(told({.values = fifty, .name = "a"}, {.values = fifty, .name = "b"}),
                AllOf(HasSubstr("'a'"), HasSubstr("'b'")));
  }
}

TEST(DifferentCalls, OfTheSameKindAreToldApartByName) {
  // Summed in another order on each rank, with no one to notice: each would get a sum of both.
  const Options options{.check_collectives = true};
  const Vector ten(nullptr, 10, Element::float32);
  EXPECT_THAT(told_of(options, {.values = ten, .name = "a"}, {.values = ten, .name = "b"}),
              HasSubstr("'b'"));
}

TEST(Usage, ThatCannotBeRightIsRefused) {
  const auto told = [](const std::function<void(Communicator&)>& body) {
    return outcome(Threads(1), 1, body).caller;
  };
  double value = 0;
  const Vector one(std::span(&value, 1));
  EXPECT_THAT(told([&](auto& group) { group.broadcast(one, 1); }), HasSubstr("not 1"));
  EXPECT_THAT(told([&](auto& group) { group.send(one, 1, 0); }), HasSubstr("of 1 ranks, not 1"));
  EXPECT_THAT(told([&](auto& group) { group.receive(one, -2, 0); }), HasSubstr("not -2"));
  EXPECT_THAT(told([&](auto& group) { group.group(std::vector<int>{}); }),
              HasSubstr("groups that it belongs to"));
  EXPECT_THAT(told([&](auto& group) {
                group.group(std::vector<int>{0, 0});
              }),
              HasSubstr("named once"));
  EXPECT_THAT(told([&](auto& group) { group.reduce_scatter(one, {2}); }), HasSubstr("add up to"));
  EXPECT_THAT(told([&](auto& group) {
                group.sum(Vector(&value, 1, Element::float64, base::Place::device));
              }),
              HasSubstr("on the host"));
  std::int64_t whole = 1;
  EXPECT_THAT(told([&](auto& group) { group.sum(Vector(std::span(&whole, 1)), 0.5); }),
              HasSubstr("factor 1"));
}

TEST(Usage, OptionsThatCannotBeMeantAreRefused) {
  EXPECT_THROW(Threads(1, {.ranks_per_node = 0}), Error);
  EXPECT_THROW(Threads(1, {.stall = Seconds(0)}), Error);
}

TEST(Usage, AMessageOfAnotherLengthIsNamed) {
  const Outcome told = outcome(Threads(2), 2, [](Communicator& group) {
    std::vector<float> values(group.rank() == 0 ? 100 : 101);
    if (group.rank() == 0) group.send(Vector(std::span(values)), 1, 7);
    if (group.rank() == 1) group.receive(Vector(std::span(values)), 0, 7);
  });
  EXPECT_EQ(told.caller,
            "a message of 400 bytes with tag 7 from rank 0 came where rank 1 receives 404 bytes");
}

TEST(Failing, BreaksAtTheCallItIsTold) {
  for (std::int64_t at : {1, 2, 3, 4}) {
    const Outcome told = outcome(Threads(2), 2, [at](Communicator& world) {
      Failing broken(world, world.rank() == 1 ? at : 0, [] { throw std::runtime_error("broken"); });
      EXPECT_EQ(broken.sum(1.0), 2);
      EXPECT_EQ(broken.sum(1.0), 2);
      const int both[] = {0, 1};
      EXPECT_EQ(broken.group(both)->sum(1.0), 2);
    });
    EXPECT_EQ(told.caller, at <= 3 ? "broken" : "");
  }
}

}  // namespace
}  // namespace parajoule::comm
