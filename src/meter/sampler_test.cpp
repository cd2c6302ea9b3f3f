#include "meter/sampler.h"

#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/error.h"
#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using std::chrono::milliseconds;

/// Sources of constant power that count how often they are read.
std::vector<std::unique_ptr<Source>> counting(std::atomic<int>& reads, int count = 1) {
  std::vector<std::unique_ptr<Source>> sources;
  for (int i = 0; i < count; ++i)
    sources.push_back(made_up(described("x", Quantity::power), [&reads](Seconds) {
      ++reads;
      return 100.0;
    }));
  return sources;
}

void wait_for(const std::atomic<int>& count, int least) {
  while (count < least) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Sampler, ReadsAtBothEndsHoweverShortTheRun) {
  std::atomic<int> reads = 0;
  std::vector<Row> rows;
  Sampler sampler(counting(reads, 3), {.hertz = 0.1, .sink = [&](std::span<const Row> more) {
                                         rows.insert(rows.end(), more.begin(), more.end());
                                       }});
  EXPECT_EQ(reads, 3);
  sampler.stop();
  EXPECT_EQ(reads, 6);
  EXPECT_EQ(rows.size(), 6u);
}

TEST(Sampler, TakesNoReadingAfterStop) {
  std::atomic<int> reads = 0;
  Sampler sampler(counting(reads), {.hertz = 1000});
  wait_for(reads, 5);
  sampler.stop();
  const int after = reads;
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(reads, after);
  sampler.stop();
  EXPECT_EQ(reads, after);
}

TEST(Sampler, HandsOverEveryRowOnceAndInOrder) {
  std::atomic<int> reads = 0;
  std::vector<Row> rows;
  Sampler sampler(counting(reads, 2),
                  {.hertz = 1000, .deliver_every = Seconds(0.005), .sink = [&](auto more) {
                     rows.insert(rows.end(), more.begin(), more.end());
                   }});
  wait_for(reads, 60);
  sampler.stop();
  std::map<std::size_t, Seconds> last;
  int values = 0;
  for (const Row& row : rows) {
    if (std::holds_alternative<Gap>(row.reading)) continue;
    ++values;
    const auto [place, first] = last.try_emplace(row.source, row.at);
    EXPECT_TRUE(first || row.at > place->second);
    place->second = row.at;
  }
  EXPECT_EQ(values, reads);
}

TEST(Sampler, ASlowSinkTearsNoHoles) {
  std::atomic<int> reads = 0;
  std::atomic<int> slow_calls = 0;
  std::atomic<bool> ending = false;
  Sampler sampler(
      counting(reads),
      {.hertz = 200, .deliver_every = Seconds(0.001), .sink = [&](std::span<const Row>) {
         const int before = reads;  // it goes on, or this never ends
         while (!ending && reads < before + 5) std::this_thread::sleep_for(milliseconds(1));
         ++slow_calls;
       }});
  wait_for(slow_calls, 2);
  ending = true;
  sampler.stop();
  EXPECT_GE(reads, 10);
}

TEST(Sampler, OffersRowsAgainThatTheSinkDidNotTake) {
  std::atomic<int> reads = 0;
  std::atomic<int> tries = 0;
  std::vector<Row> rows;
  Sampler sampler(
      counting(reads),
      {.hertz = 1000, .deliver_every = Seconds(0.001), .sink = [&](std::span<const Row> more) {
         if (++tries < 4) throw std::runtime_error("disk full");
         rows.insert(rows.end(), more.begin(), more.end());
       }});
  wait_for(tries, 5);
  sampler.stop();
  int values = 0;
  for (const Row& row : rows) values += std::holds_alternative<double>(row.reading);
  EXPECT_EQ(values, reads);
}

TEST(Sampler, TellsAtTheEndWhatTheSinkThrewLast) {
  std::atomic<int> reads = 0;
  Sampler sampler(counting(reads),
                  {.sink = [](std::span<const Row>) { throw std::runtime_error("disk full"); }});
  EXPECT_THROW(sampler.stop(), std::runtime_error);
  sampler.stop();  // told once
}

TEST(Sampler, ShowsEnergyAndPowerToAnyThread) {
  std::atomic<int> reads = 0;
  Sampler sampler(counting(reads, 2), {.hertz = 1000});
  std::vector<std::thread> watchers;
  for (int i = 0; i < 3; ++i)
    watchers.emplace_back([&] {
      while (reads < 100) {
        for (const Live& live : sampler.snapshot())
          EXPECT_NEAR(live.power.value_or(base::Watts{100}).value, 100, 1e-6);
        EXPECT_GE(sampler.cost().rounds, 1u);
        EXPECT_GE(sampler.now(), Seconds(0));
      }
    });
  for (std::thread& watcher : watchers) watcher.join();
  sampler.stop();
  const auto live = sampler.snapshot();
  EXPECT_GT(live.at(0).energy->value, 0);
  EXPECT_EQ(live.at(0).value, 100);
}

TEST(Sampler, StartsAndStopsAThousandTimes) {
  std::atomic<int> reads = 0;
  for (int i = 0; i < 1000; ++i) {
    Sampler sampler(counting(reads), {.sink = [](std::span<const Row>) {}});
    sampler.stop();
  }
  EXPECT_EQ(reads, 2000);
}

TEST(Sampler, StartsInOneThreadAndStopsInAnother) {
  std::atomic<int> reads = 0;
  std::unique_ptr<Sampler> sampler;
  std::thread([&] {
    sampler = std::make_unique<Sampler>(counting(reads), Sampler::Options{});
  }).join();
  std::thread([&] { sampler->stop(); }).join();
  EXPECT_EQ(reads, 2);
}

TEST(Sampler, CountsItsOwnCost) {
  std::atomic<int> reads = 0;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(made_up(described("x", Quantity::power), [&](Seconds) {
    ++reads;
    const auto end = std::chrono::steady_clock::now() + milliseconds(2);
    while (std::chrono::steady_clock::now() < end) {
    }
    return 1.0;
  }));
  Sampler sampler(std::move(sources), {.hertz = 100});
  wait_for(reads, 10);
  sampler.stop();
  const SamplingCost cost = sampler.cost();
  // The first read is the caller's; of the others each took at least what it span, unless its
  // thread was put aside.
  EXPECT_GT(cost.cpu, Seconds(0.001));
  EXPECT_LE(cost.cpu, cost.wall + Seconds(0.01));
  EXPECT_GE(cost.longest_round, Seconds(0.002));
  EXPECT_GE(cost.rounds, 10u);
}

TEST(Sampler, LeavesSignalsToTheProgram) {
  sigset_t usr1, before, pending;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &before), 0);
  std::atomic<int> reads = 0;
  Sampler sampler(counting(reads), {});
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &usr1, nullptr), 0);
  ::kill(::getpid(), SIGUSR1);  // would end the program in a thread that lets it through
  std::this_thread::sleep_for(milliseconds(5));
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGUSR1), 1);
  int taken = 0;
  ::sigwait(&usr1, &taken);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(taken, SIGUSR1);
}

TEST(Sampler, RefusesARateItCannotKeep) {
  for (double hertz : {0.0, -1.0, 1001.0, std::nan("")}) {
    std::atomic<int> reads = 0;
    try {
      Sampler sampler(counting(reads), {.hertz = hertz});
      FAIL() << hertz;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
    }
  }
}

TEST(Sampler, RunsWithoutSources) {
  Sampler sampler({}, {.hertz = 1000});
  sampler.stop();
  EXPECT_TRUE(sampler.snapshot().empty());
}

}  // namespace
}  // namespace parajoule::meter
