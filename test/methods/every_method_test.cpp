// What every method must hold, one after the other and in every world; its own formula stands in
// its own file.
#include "every_method.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "comm/sums.h"
#include "passing.h"
#include "strategy/catalog.h"

namespace parajoule::methods {
namespace {

std::string told(const Case& each) {
  std::string text = std::string(each.method) + " on " + std::to_string(each.ranks);
  for (const auto& [name, value] : each.settings) text += ", " + name + " " + base::written(value);
  return text;
}

TEST(EveryMethod, IsAmongThoseTried) {
  std::set<std::string_view> known, tried;
  for (const strategy::Method& method : strategy::methods()) known.insert(method.name);
  for (const Case& each : every_method(4)) tried.insert(each.method);
  EXPECT_EQ(tried, known);
}

TEST(EveryMethod, GoesOnFromWhatItSavedAfterAnyStep) {
  for (const int ranks : {1, 3, 4})
    for (const Case& each : every_method(ranks)) {
      SCOPED_TRACE(told(each));
      expect_goes_on(each);
    }
}

TEST(EveryMethod, EndsWithOneModelOnAllRanksThatTrain) {
  for (const int ranks : rank_counts)
    for (Case each : every_method(ranks)) {
      SCOPED_TRACE(told(each));
      each.evaluate = true;
      const Outcome found = run(each);
      // One that serves has no weights of its own; it is told those that are evaluated.
      const auto& weights = each.method == "lsgd" ? found.evaluated : found.finished;
      for (const Row& row : weights) EXPECT_EQ(row, found.finished[0]);
    }
}

/// Trains, or serves, from the first step to the last one and through `finish`. Then nothing is
/// under way, with the method still there: its end would wait for what is.
void take_part(const Case& each, comm::Communicator& everyone, const exact::Clock& clock) {
  comm::Summing summing(everyone);
  Tally tally;
  Tallied group(summing, tally);
  const strategy::Method& method = strategy::method(each.method);
  const base::Settings settings(method.name, method.options, each.settings);
  std::vector<strategy::Part> parts;
  int trainers = 0;
  for (int rank = 0; rank < each.ranks; ++rank) {
    parts.push_back(method.part(rank, each.ranks, group.nodes(), settings));
    trainers += parts.back().trains.has_value();
  }
  const strategy::Part& own = parts[std::size_t(group.rank())];
  const auto strategy = method.make(group, settings);
  exact::Worker worker(group, each.problem, {.trainer = own.trains, .trainers = trainers},
                       {.clock = clock, .epochs = 2});
  if (own.trains) {
    double largest = 0;
    for (const strategy::Part& part : parts) largest = std::max(largest, part.share);
    const auto steps = std::int64_t(double(each.steps) * own.share / largest + 0.5);
    for (std::int64_t step = 0; step < steps; ++step) {
      worker.begin_step(step);
      strategy->step(worker);
    }
    strategy->leave(worker);
  } else {
    strategy->serve(worker);
  }
  strategy->finish(worker);
  EXPECT_EQ(tally.over, tally.begun) << told(each) << ": of what rank " << group.rank() << " began";
  // A message to somebody who never takes it would be under way for ever.
  EXPECT_EQ(everyone.sum(double(tally.sent - tally.received)), 0) << told(each);
}

TEST(EveryMethod, LeavesNothingUnderWayAfterTheEnd) {
  for (const World& world : worlds())
    for (const int ranks : rank_counts)
      for (const Case& each : every_method(ranks))
        world.run(each, [&](comm::Communicator& everyone, const exact::Clock& clock) {
          take_part(each, everyone, clock);
        });
}

TEST(Averaging, ConservesTheSumOfTheWeights) {
  // DASO hands one rank's weights to its node, and a pull goes to where a rank once was.
  const std::set<std::string_view> averages{"delayed_averaging", "cocod_sgd", "local_sgd",
                                            "post_local_sgd",    "oldsgd",    "biased_local_sgd"};
  for (const int ranks : {2, 3, 4, 5, 8}) {
    std::vector<Row> start;
    for (int r = 0; r < ranks; ++r)
      for (Row& row = start.emplace_back(); row.size() < 37;)
        row.push_back(1 + r * r - 0.1 * double(row.size()));
    for (Case each : every_method(ranks)) {
      if (!averages.contains(each.method)) continue;
      SCOPED_TRACE(told(each));
      each.problem = still(start);
      if (each.method == "post_local_sgd") each.settings["from_epoch"] = std::int64_t(0);
      if (each.method == "biased_local_sgd")
        each.settings.insert_or_assign("slow_steps", std::int64_t(4));
      const Outcome found = run(each);
      for (const auto& after : found.weights)
        expect_near(mean(after), mean(start), 1e-12, "mean of the replicas");
      for (const Row& row : found.finished) expect_near(row, mean(start), 1e-12, "mean at the end");
    }
  }
}

}  // namespace
}  // namespace parajoule::methods
