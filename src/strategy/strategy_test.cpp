// The catalog, what methods share, and the first method.
#include "strategy/strategy.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/catalog.h"
#include "strategy/merge.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using base::Range;
using base::Vector;
using toy::Replicas;
using toy::Rows;
using toy::Trial;

constexpr std::size_t count = 37;

Rows trained(std::string_view name, const toy::Given& options, int steps) {
  return toy::train({.method = name, .options = options, .steps = steps, .count = count}).last();
}

/// Steps along the gradients of all ranks, each with its weight.
Rows weighted(int steps, const std::vector<double>& weight) {
  Replicas all(4, count);
  for (int step = 0; step < steps; ++step) {
    Rows gradients;
    for (int r = 0; r < 4; ++r) gradients.push_back(all.gradient(r));
    for (int r = 0; r < 4; ++r) all.update(r, toy::mean(gradients, weight));
  }
  return all.w;
}

TEST(Synchronous, FollowsTheMeanGradient) {
  for (const std::string overlap : {"none", "merged"})
    toy::expect_near(trained("synchronous", {{"overlap", overlap}}, 20),
                     weighted(20, {.25, .25, .25, .25}));
}

TEST(Synchronous, AnswersDoNotDependOnHowGradientsAreMerged) {
  const auto whole = trained("synchronous", {{"overlap", std::string("none")}}, 10);
  for (std::int64_t bytes : {1, 8, 24, 100, 1000000})
    EXPECT_EQ(trained("synchronous", {{"merge_bytes", bytes}}, 10), whole) << bytes;
}

TEST(Synchronous, WeighsEachRankByItsSamples) {
  const std::vector<double> samples{3, 1, 0, 2};
  Trial trial{.method = "synchronous", .steps = 5, .count = count};
  trial.progress = [&](int rank, int, Progress& progress) {
    progress.samples = std::int64_t(samples[rank]);
    progress.samples_of_all = 6;
  };
  toy::expect_near(toy::train(trial).last(), weighted(5, {3. / 6, 1. / 6, 0, 2. / 6}));
}

TEST(Worker, RefusesToChooseSamplesUnlessItCan) {
  comm::Threads(1).run([](comm::Communicator& group) {
    toy::Worker worker(group, 1);
    for (const auto& ask : {std::function<void()>([&] { worker.losses(); }),
                            std::function<void()>([&] { worker.draw({}); })}) {
      try {
        ask();
        FAIL();
      } catch (const base::Error& error) {
        EXPECT_EQ(error.fault, base::Fault::usage);
        EXPECT_NE(std::string(error.what()).find("biased = false"), std::string::npos);
      }
    }
  });
}

TEST(MergedRanges, CoverTheParametersFromTheLastToTheFirst) {
  schedule::Layout layout;
  std::size_t begin = 0;
  for (std::size_t count : {5, 1, 700, 3, 64, 64, 1, 900, 2}) {
    layout.parameters.push_back({.name = "p", .shape = {}, .range = {begin, begin + count}});
    begin += count;
  }
  for (std::size_t bytes : {1, 100, 256, 4000, 100000}) {
    std::size_t end = begin;
    for (const Range& range : merged_ranges(layout, base::Element::float32, bytes)) {
      EXPECT_EQ(range.end, end);
      EXPECT_GT(range.size(), 0u);
      end = range.begin;
    }
    EXPECT_EQ(end, 0u) << bytes;
  }
}

TEST(Catalog, AnswersAnUnknownMethodWithTheNearest) {
  try {
    method("local_sdg");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'local_sgd'"), std::string::npos);
  }
}

}  // namespace
}  // namespace parajoule::strategy
