#include "schedule/wait_free.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"

namespace parajoule::schedule {
namespace {

using base::Seconds;

/// A set of tasks with what each waits for and the machine it needs, run one iteration after the
/// other: the graph of the paper (section III), executed.
class Executor {
 public:
  /// After the tasks `after`, on `machine`; gives its end.
  Seconds run(const std::string& machine, Seconds takes, std::initializer_list<Seconds> after) {
    Seconds& free = free_[machine];
    free = std::max({free, std::max(after, std::less<Seconds>())}) + takes;
    return free;
  }

 private:
  std::map<std::string, Seconds> free_;
};

enum class Overlap { nothing, reading, layers };

/// The time from one iteration to the next once it is the same each time.
Seconds executed(const Iteration& each, Overlap overlap) {
  Executor machines;
  const std::string disk = "disk";
  const std::string bus = overlap == Overlap::nothing ? "bus" : "disk";  // one batch is ahead
  Seconds updated{0};
  Seconds before{0};
  constexpr int iterations = 60;
  for (int j = 0; j < iterations; ++j) {
    const Seconds may_read = overlap == Overlap::nothing ? updated : Seconds(0);
    const Seconds read = machines.run(disk, each.input, {may_read});
    const Seconds copied = machines.run(bus, each.copy, {read});
    Seconds computed = machines.run("device", each.forward, {copied, updated});
    std::vector<Seconds> ready;
    for (Seconds layer : each.backward)
      ready.push_back(computed = machines.run("device", layer, {computed}));
    Seconds summed = computed;
    for (std::size_t i = 0; i < each.sum.size(); ++i)
      summed =
          machines.run("network", each.sum[i], {overlap == Overlap::layers ? ready[i] : computed});
    before = updated;
    updated = machines.run("device", each.update, {std::max(summed, computed)});
  }
  return updated - before;
}

Seconds random_time(base::Stream& stream) { return Seconds(stream.uniform() * stream.uniform()); }

Iteration random_iteration(base::Stream& stream) {
  Iteration each{.input = random_time(stream) * 5.0,
                 .copy = random_time(stream),
                 .forward = random_time(stream) * 2.0,
                 .update = random_time(stream)};
  for (std::size_t layers = 1 + stream.below(20); layers > 0; --layers) {
    each.backward.push_back(random_time(stream));
    each.sum.push_back(random_time(stream));
  }
  return each;
}

Seconds total(const std::vector<Seconds>& times) {
  return std::accumulate(times.begin(), times.end(), Seconds(0));
}

TEST(ClosedForms, EqualTheGraphExecuted) {
  base::Stream stream{11};
  for (int turn = 0; turn < 1000; ++turn) {
    const Iteration each = random_iteration(stream);
    EXPECT_NEAR(in_turn(each).count(), executed(each, Overlap::nothing).count(), 1e-9);
    EXPECT_NEAR(reading_ahead(each).count(), executed(each, Overlap::reading).count(), 1e-9);
    EXPECT_NEAR(wait_free(each).count(), executed(each, Overlap::layers).count(), 1e-9);
  }
}

TEST(WaitFree, EndsBetweenItsBounds) {
  base::Stream stream{12};
  for (int turn = 0; turn < 1000; ++turn) {
    Iteration each = random_iteration(stream);
    each.input = each.copy = each.forward = each.update = Seconds(0);
    const Seconds end = wait_free(each);
    const Seconds least = std::max(total(each.backward), each.backward.front() + total(each.sum));
    EXPECT_GE(end.count(), least.count() - 1e-12);
    EXPECT_LE(end.count(), (total(each.backward) + total(each.sum)).count() + 1e-12);
  }
}

struct Layers {
  std::vector<Gradient> gradients;
  SumCost cost;
};

Layers random_layers(base::Stream& stream, std::size_t count) {
  Layers layers{.gradients = {},
                .cost = {.start = Seconds(0.5 * stream.uniform()),
                         .per_byte = Seconds(2e-6 * stream.uniform())}};
  Seconds ready{0};
  for (std::size_t i = 0; i < count; ++i) {
    ready += random_time(stream);
    layers.gradients.push_back({ready, 1e6 * stream.uniform() * stream.uniform()});
  }
  return layers;
}

Seconds end(const Layers& layers, const std::vector<std::size_t>& merged) {
  return end_of_sums(layers.gradients, merged, layers.cost);
}

/// The sums that the bits of `cuts` leave: bit i cuts after layer i.
std::vector<std::size_t> grouping(std::size_t layers, std::uint64_t cuts) {
  std::vector<std::size_t> merged{1};
  for (std::size_t i = 0; i + 1 < layers; ++i) {
    if (cuts >> i & 1)
      merged.push_back(1);
    else
      ++merged.back();
  }
  return merged;
}

TEST(MergedSums, OneLayerEachIsTheRecurrenceOfThePaper) {
  base::Stream stream{13};
  for (int turn = 0; turn < 100; ++turn) {
    const Layers layers = random_layers(stream, 1 + stream.below(20));
    Iteration each;
    Seconds before{0};
    for (const Gradient& gradient : layers.gradients) {
      each.backward.push_back(gradient.ready - before);
      each.sum.push_back(layers.cost.of(gradient.bytes));
      before = gradient.ready;
    }
    const std::vector<std::size_t> apart(layers.gradients.size(), 1);
    EXPECT_NEAR(end(layers, apart).count(), wait_free(each).count(), 1e-12);
  }
}

TEST(MergedSums, AreNeverWorseThanNoneOrOne) {
  base::Stream stream{14};
  for (int turn = 0; turn < 1500; ++turn) {
    const Layers layers = random_layers(stream, 1 + stream.below(40));
    const std::size_t count = layers.gradients.size();
    const auto merged = merged_sums(layers.gradients, layers.cost);
    EXPECT_EQ(std::accumulate(merged.begin(), merged.end(), std::size_t(0)), count);
    const Seconds apart = end(layers, std::vector<std::size_t>(count, 1));
    const Seconds together = end(layers, {count});
    EXPECT_LE(end(layers, merged).count(), std::min(apart, together).count() + 1e-12) << turn;
  }
}

/// Layers as in networks, on the networks that MG-WFBP's code has measured (s, s/B).
Layers likely_layers(base::Stream& stream) {
  constexpr std::pair<double, double> networks[] = {{2.55e-6, 9.84e-11}, {4.20e-5, 2.06e-10},
                                                    {5.23e-4, 8.57e-10}, {9.08e-4, 7.40e-10},
                                                    {9.75e-5, 3.06e-10}, {2.36e-4, 4.06e-10}};
  const auto [a, b] = networks[stream.below(6)];
  Layers layers{.gradients = {}, .cost = {.start = Seconds(a), .per_byte = Seconds(b)}};
  Seconds ready{0};
  for (std::size_t left = 1 + stream.below(9); left > 0; --left) {
    ready += Seconds(stream.uniform(1e-4, 3e-3));
    layers.gradients.push_back({ready, std::pow(10, stream.uniform(3, 7))});
  }
  return layers;
}

// The rule is greedy: the best is met in most cases, not in all.
TEST(MergedSums, AreNearTheBestGrouping) {
  base::Stream stream{15};
  std::vector<double> ratios;
  for (int turn = 0; turn < 1000; ++turn) {
    const Layers layers = likely_layers(stream);
    const std::size_t count = layers.gradients.size();
    Seconds best = end(layers, {count});
    for (std::uint64_t cuts = 0; cuts < std::uint64_t(1) << (count - 1); ++cuts)
      best = std::min(best, end(layers, grouping(count, cuts)));
    const Seconds ours = end(layers, merged_sums(layers.gradients, layers.cost));
    EXPECT_GE(ours.count(), best.count() - 1e-12);
    ratios.push_back(ours / best);
  }
  std::ranges::sort(ratios);
  EXPECT_NEAR(ratios[ratios.size() / 2], 1, 5e-4);
  EXPECT_LT(ratios[ratios.size() * 95 / 100], 1.012);
}

TEST(MergedSums, FollowTheirRule) {
  const SumCost cost{.start = Seconds(1), .per_byte = Seconds(0.1)};
  // The second is ready within the start-up of the first's sum; the third only after that.
  const std::vector<Gradient> gradients{{Seconds(1), 10}, {Seconds(1.5), 10}, {Seconds(9), 10}};
  EXPECT_EQ(merged_sums(gradients, cost), (std::vector<std::size_t>{2, 1}));
  // Nothing costs anything: nothing is gained.
  EXPECT_EQ(merged_sums(gradients, {}), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_TRUE(merged_sums({}, cost).empty());
}

TEST(Fitted, IsTheLineThroughTheSums) {
  const std::vector<double> bytes{0, 1000, 4000, 16000};
  std::vector<Seconds> times;
  for (double size : bytes) times.push_back(Seconds(2e-4 + 3e-9 * size));
  const SumCost line = fitted(bytes, times);
  EXPECT_NEAR(line.start.count(), 2e-4, 1e-15);
  EXPECT_NEAR(line.per_byte.count(), 3e-9, 1e-18);
  const SumCost flat = fitted(std::vector<double>{8, 8}, std::vector<Seconds>(2, Seconds(4)));
  EXPECT_EQ(flat.start, Seconds(0));
  EXPECT_EQ(flat.of(8), Seconds(4));
  const SumCost falling =
      fitted(std::vector<double>{1, 2}, std::vector<Seconds>{Seconds(2), Seconds(1)});
  EXPECT_EQ(falling.per_byte, Seconds(0));
  EXPECT_EQ(falling.start, Seconds(1.5));
}

}  // namespace
}  // namespace parajoule::schedule
