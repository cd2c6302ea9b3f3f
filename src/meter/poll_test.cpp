#include "meter/poll.h"

#include <atomic>
#include <future>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/made_up_source.h"
#include "meter/sweep.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A device that answers when it is let.
struct Slow {
  std::promise<void> let;
  std::shared_future<void> allowed = let.get_future().share();
  std::atomic<int> asked = 0;

  std::shared_ptr<Poll> poll(Seconds every = Seconds(1000)) {
    return std::make_shared<Poll>(
        [this](const Stopped&) {
          ++asked;
          allowed.wait();
          return std::vector<Reading>{250.0, 17.0};
        },
        every);
  }
};

std::unique_ptr<Source> node(const std::shared_ptr<Poll>& poll, std::size_t place = 0) {
  return polled(described("node", Quantity::power), poll, place);
}

TEST(Poll, NoRoundWaitsForASlowDevice) {
  Slow slow;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(node(slow.poll()));
  sources.push_back(made_up(described("fast", Quantity::power), [](Seconds) { return 1.0; }));
  Sweep sweep(std::move(sources), node_clock(std::chrono::steady_clock::now()), Seconds(0.1));
  for (int i = 0; i < 3; ++i) {  // would never come back if it waited
    const auto rows = sweep.whole_round();
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0].source, 1u);
  }
  slow.let.set_value();
  while (sweep.whole_round().size() < 2) std::this_thread::yield();
}

TEST(Poll, ARowStandsWhereItsNumberWasTaken) {
  Slow slow;
  slow.let.set_value();
  std::vector<std::unique_ptr<Source>> sources;
  auto poll = slow.poll();
  sources.push_back(node(poll));
  // A clock that says that a long time has passed since the device was asked.
  Seconds shown(0);
  Sweep sweep(std::move(sources),
              {.now = [&] { return shown; }, .asleep = [] { return Seconds(0); }}, Seconds(0.1));
  poll->begin();
  while (poll->last().number == 0) std::this_thread::yield();
  shown = Seconds(100);
  const auto rows = sweep.whole_round();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(std::get<double>(rows[0].reading), 250);
  EXPECT_LT(rows[0].at, Seconds(100));
  EXPECT_THAT(sweep.whole_round(), IsEmpty());  // nothing new since
}

TEST(Poll, SeveralNumbersComeOutOfOneQuestion) {
  Slow slow;
  slow.let.set_value();
  const auto poll = slow.poll();
  const auto first = node(poll), second = node(poll, 1), third = node(poll, 2);
  while (!first->ready()) std::this_thread::yield();
  EXPECT_TRUE(second->ready());
  EXPECT_EQ(std::get<double>(first->read(Seconds(0))), 250);
  EXPECT_EQ(std::get<double>(second->read(Seconds(0))), 17);
  EXPECT_THAT(std::get<Gap>(third->read(Seconds(0))).detail, HasSubstr("no such number"));
  EXPECT_EQ(slow.asked, 1);
}

TEST(Poll, ADeviceThatDoesNotAnswerIsAGap) {
  Slow slow;
  const auto poll = slow.poll(Seconds(1e-6));
  const auto source = node(poll);
  while (!source->ready()) std::this_thread::yield();  // overdue
  EXPECT_THAT(std::get<Gap>(source->read(Seconds(0))).detail, HasSubstr("no answer for"));
  slow.let.set_value();
  while (poll->last().number == 0) std::this_thread::yield();
  ASSERT_TRUE(source->ready());
  EXPECT_EQ(std::get<double>(source->read(Seconds(0))), 250);
}

TEST(Poll, AnExceptionIsAGap) {
  const auto poll = std::make_shared<Poll>(
      [](const Stopped&) -> std::vector<Reading> { throw std::runtime_error("the bus is gone"); },
      Seconds(1000));
  const auto source = node(poll);
  while (!source->ready()) std::this_thread::yield();
  EXPECT_EQ(std::get<Gap>(source->read(Seconds(0))).detail, "the bus is gone");
}

TEST(Poll, EndsWhileAQuestionIsUnderWay) {
  std::promise<void> begun;
  auto poll = std::make_shared<Poll>(
      [&](const Stopped& stopped) {
        begun.set_value();
        while (!stopped()) std::this_thread::yield();
        return std::vector<Reading>{};
      },
      Seconds(1000));
  poll->begin();
  begun.get_future().wait();
  poll.reset();  // hangs if it were not told
}

TEST(Poll, OneThatWasNeverBegunAsksNothing) {
  Slow slow;
  { const auto poll = slow.poll(); }
  EXPECT_EQ(slow.asked, 0);
}

}  // namespace
}  // namespace parajoule::meter
