#include "meter/sampler.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include "base/error.h"
#include "meter/made_up_source.h"
#include "meter/thread_time.h"

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
  EXPECT_EQ(sampler.descriptions().size(), 3u);
}

/// Threads of this program.
std::vector<std::filesystem::path> threads() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    found.push_back(entry.path());
  return found;
}

/// Those there are before a test starts one. The thread sanitizer starts one of its own beside the
/// first.
std::vector<std::filesystem::path> threads_before() {
  std::thread([] {}).join();
  return threads();
}

TEST(Sampler, LeavesNoThreadBehindThatCouldReadOn) {
  std::atomic<int> reads = 0;
  const std::size_t before = threads_before().size();
  Sampler sampler(counting(reads), {.hertz = 1000});
  EXPECT_EQ(threads().size(), before + 2);
  wait_for(reads, 5);
  sampler.stop();
  EXPECT_EQ(threads().size(), before);
  const int after = reads;
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

TEST(Sampler, GivesEachRowOnceThoughTheSinkThrows) {
  std::atomic<int> reads = 0;
  std::atomic<int> calls = 0;
  std::vector<Row> rows;
  Sampler sampler(
      counting(reads),
      {.hertz = 1000, .deliver_every = Seconds(0.001), .sink = [&](std::span<const Row> more) {
         rows.insert(rows.end(), more.begin(), more.end());
         if (++calls < 4) throw std::runtime_error("disk full");
       }});
  wait_for(calls, 5);
  sampler.stop();  // the last call went well
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
    const Seconds end = thread_cpu_time() + Seconds(0.002);
    while (thread_cpu_time() < end) {
    }
    ++reads;
    return 1.0;
  }));
  Sampler sampler(std::move(sources), {.hertz = 100});
  wait_for(reads, 5);
  sampler.stop();
  const SamplingCost cost = sampler.cost();
  EXPECT_GE(cost.cpu, (reads - 1) * Seconds(0.002));  // the first read is the caller's
  EXPECT_LE(cost.cpu, 2 * cost.wall);                 // of two threads
  EXPECT_GE(cost.longest_round, Seconds(0.002));
  EXPECT_GE(cost.rounds, 5u);
}

TEST(Sampler, LeavesSignalsToTheProgram) {
  const auto before = threads_before();
  std::atomic<int> reads = 0;
  Sampler sampler(counting(reads), {});
  int own = 0;
  for (const auto& thread : threads()) {
    if (std::ranges::find(before, thread) != before.end()) continue;
    std::ifstream status(thread / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const std::uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
      for (int signal : {SIGUSR1, SIGTERM, SIGINT, SIGCHLD})
        EXPECT_TRUE(blocked >> (signal - 1) & 1) << signal;
      ++own;
    }
  }
  EXPECT_EQ(own, 2);
  sigset_t mask;
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &mask), 0);
  EXPECT_EQ(::sigismember(&mask, SIGUSR1), 0);  // the caller's own signals are as they were
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
