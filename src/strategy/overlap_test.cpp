// Sums that overlap the backward pass give what one sum after it gives.
#include "strategy/overlap.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/sums.h"
#include "strategy/merge.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using base::Range;
using toy::Given;
using toy::Rows;

constexpr std::size_t count = 37;

std::vector<Given> every_overlap() {
  std::vector<Given> all{{{"overlap", std::string("layer")}},
                         {{"overlap", std::string("merged")}, {"merge_by", std::string("times")}}};
  for (std::int64_t bytes : {1, 8, 24, 100, 1000000}) {
    all.push_back({{"overlap", std::string("merged")}, {"merge_bytes", bytes}});
    all.push_back({{"overlap", std::string("lazy")}, {"threshold_bytes", bytes - 1}});
  }
  return all;
}

toy::Trial trial(const Given& options, int ranks = 4) {
  return {.method = "synchronous",
          .options = options,
          .ranks = ranks,
          .steps = 10,
          .count = count,
          .momentum = 0.9};
}

// The world's own sum adds up each element alike wherever it lies.
TEST(Overlap, AnswersAreThoseOfOneSumToTheBit) {
  for (int ranks : {1, 2, 3, 4, 5, 8}) {
    const auto after_pass = toy::train(trial({{"overlap", std::string("none")}}, ranks));
    for (const Given& options : every_overlap())
      EXPECT_EQ(toy::train(trial(options, ranks)).after, after_pass.after) << ranks;
  }
}

/// Ready times differ between the ranks, and so would the merging if it were not agreed on.
class Clocked final : public toy::Worker {
 public:
  using toy::Worker::Worker;
  base::Seconds now() const override {
    return base::Seconds(1e-3 * double(++asked_) * (1 + 0.7 * group_.rank()));
  }

 private:
  mutable std::int64_t asked_ = 0;
};

Rows trained_by(const Given& options, std::string_view sum, std::optional<int> resume_after = {}) {
  Rows rows(4);
  comm::Threads(4, {.ranks_per_node = 2}).run([&](comm::Communicator& world) {
    comm::Summing group(world, comm::sum(sum));
    auto strategy = toy::make("synchronous", options, group);
    Clocked worker(group, count, 0.9);
    for (int step = 0; step < 12; ++step) {
      worker.progress_ = {
          .step = step, .samples = group.rank(), .samples_of_all = 6, .learning_rate = toy::rate};
      strategy->step(worker);
      if (resume_after != step + 1) continue;
      base::Archive archive;
      strategy->save(archive);
      // Decided in the step after the measured ones.
      EXPECT_EQ(archive.holds("merged_count"),
                step + 1 > std::get<std::int64_t>(options.at("measured_steps")));
      strategy = toy::make("synchronous", options, group);
      strategy->load(archive);
      base::Archive again;
      strategy->save(again);
      EXPECT_EQ(again.entries(), archive.entries());
    }
    const auto weights = worker.weights().as<double>();
    rows[std::size_t(group.rank())] = {weights.begin(), weights.end()};
  });
  for (const auto& row : rows) EXPECT_EQ(row, rows[0]);
  return rows;
}

TEST(Overlap, HoldsWithEveryAlgorithmOfSumsAndARankWithoutSamples) {
  const Rows after_pass = trained_by({{"overlap", std::string("none")}}, "auto");
  for (const comm::Sum& sum : comm::sums())
    for (const Given& options : every_overlap())
      toy::expect_near(trained_by(options, sum.name), after_pass);
}

TEST(Overlap, WhatWasMeasuredIsKeptInACheckpoint) {
  const Given options{{"overlap", std::string("merged")},
                      {"merge_by", std::string("times")},
                      {"measured_steps", std::int64_t(3)}};
  const Rows whole = trained_by(options, "auto");
  for (int step : {1, 3, 4, 9}) EXPECT_EQ(trained_by(options, "auto", step), whole) << step;
}

TEST(Overlap, ADamagedCheckpointIsRefused) {
  comm::Threads(1).run([](comm::Communicator& group) {
    const auto strategy = toy::make("synchronous", {{"merge_by", std::string("times")}}, group);
    std::vector<std::int64_t> ends{5, 9};
    base::Archive archive;
    archive.put("merged_count", std::int64_t(2));
    archive.put("merged_ends", base::Vector(std::span(ends)));
    EXPECT_THROW(strategy->load(archive), base::Error);
  });
}

/// So short a sum travels with the notes: one message to each other rank.
std::uint64_t sums_a_step(const Given& options) {
  const auto trained = toy::train(trial(options));
  EXPECT_EQ(trained.messages % (4 * 3 * 10), 0U);
  return trained.messages / (4 * 3 * 10);
}

TEST(Overlap, LazySumsAreAsManyAsPredicted) {
  const auto lazy = [](std::int64_t threshold) {
    return Given{{"overlap", std::string("lazy")}, {"threshold_bytes", threshold}};
  };
  EXPECT_EQ(sums_a_step(lazy(0)), 37U);
  EXPECT_EQ(sums_a_step(lazy(8)), 19U);   // more than 8 bytes are two; the last is alone
  EXPECT_EQ(sums_a_step(lazy(16)), 13U);  // three
  EXPECT_EQ(sums_a_step({{"overlap", std::string("layer")}}), 37U);
}

TEST(LazyRanges, EndAsSoonAsTheyExceedTheThreshold) {
  schedule::Layout layout;
  std::size_t begin = 0;
  for (std::size_t size : {5, 1, 700, 3, 64, 64, 1, 900, 2}) {
    layout.parameters.push_back({.name = "p", .shape = {}, .range = {begin, begin + size}});
    begin += size;
  }
  const auto ranges = [&](std::size_t threshold) {
    return lazy_ranges(layout, base::Element::float32, threshold);
  };
  EXPECT_EQ(ranges(0).size(), 9U);
  EXPECT_EQ(ranges(1000000), (std::vector<Range>{{0, begin}}));
  // 4 bytes each: 2 + 900; 1 + 64 + 64; 3 + 700; 1 + 5 are the rest.
  EXPECT_EQ(ranges(500), (std::vector<Range>{{838, 1740}, {709, 838}, {6, 709}, {0, 6}}));
}

TEST(Overlap, EachEntryIsCompleteAndNamesItsOptions) {
  std::vector<std::string_view> names;
  for (const Overlap& known : overlaps()) {
    EXPECT_FALSE(known.summary.empty());
    names.push_back(known.name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"none", "layer", "merged", "lazy"}));
  EXPECT_TRUE(method("synchronous").overlaps());
  EXPECT_TRUE(method("synchronous").own_options().empty());
  EXPECT_FALSE(method("local_sgd").overlaps());
  EXPECT_EQ(method("local_sgd").own_options().size(), 1U);
}

}  // namespace
}  // namespace parajoule::strategy
