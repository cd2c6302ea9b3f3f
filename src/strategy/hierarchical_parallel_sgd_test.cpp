// HPSGD whose periods end as sums arrive; its rule with given periods is tested in test/methods.
#include <algorithm>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Replicas;
using toy::Rows;
using Row = Replicas::Row;

constexpr std::size_t count = 37;

/// The rule, one rank after the other.
class Simulation {
 public:
  explicit Simulation(int ranks) : x(ranks, count), global(count), sums_(ranks, Row(count)) {}

  void step(bool period_ends) {
    for (int r = 0; r < int(x.w.size()); ++r) {
      const Row g = x.gradient(r);
      for (std::size_t k = 0; k < count; ++k) sums_[r][k] += g[k];
      if (!period_ends) x.update(r, g);
    }
    if (!period_ends) return;
    apply(last_);
    last_ = toy::mean(sums_);
    sums_.assign(sums_.size(), Row(count));
    x.w.assign(x.w.size(), global);
  }
  void finish() {
    apply(last_);
    apply(toy::mean(sums_));
  }

  Replicas x;
  Row global;

 private:
  void apply(const Row& sum) {
    for (std::size_t k = 0; k < sum.size(); ++k) global[k] -= toy::rate * sum[k];
  }

  Rows sums_;
  Row last_;
};

TEST(HierarchicalParallelSgd, AdaptivePeriodsEndInTheSameStepsOnAllRanks) {
  // When sums arrive is a matter of timing; what the ranks do must not be.
  const auto done = toy::train({.method = "hierarchical_parallel_sgd",
                                .options = {{"adaptive", true}},
                                .steps = 20,
                                .count = count});
  Simulation rule(4);
  int periods = 0;
  for (int step = 0; step < 20; ++step) {
    const auto& after = done.after[step];
    const bool ended = std::ranges::all_of(after, [&](const Row& w) { return w == after[0]; });
    rule.step(ended);
    periods += ended;
    toy::expect_near(after, rule.x.w);
  }
  EXPECT_GE(periods, 1);
  rule.finish();
  toy::expect_near(done.finished, Rows(4, rule.global));
}

/// Passes everything on, but lets a sum of vectors look done only `delay` steps after its start.
class Late final : public comm::Communicator {
 public:
  Late(comm::Communicator& inner, int delay) : inner_(inner), delay_(delay) {}
  int step = 0;

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  comm::Nodes nodes() const override { return inner_.nodes(); }
  base::Vector allocate(base::Element element, std::size_t n) override {
    return inner_.allocate(element, n);
  }
  comm::Pending start(const comm::Collective& call) override {
    comm::Pending started = inner_.start(call);
    if (call.kind != comm::Collective::Kind::sum) return started;
    return comm::Pending(std::make_unique<Slow>(std::move(started), step, step + delay_));
  }
  comm::Pending start_send(base::Vector values, int to, int tag) override {
    return inner_.start_send(values, to, tag);
  }
  comm::Pending start_receive(base::Vector values, int from, int tag) override {
    return inner_.start_receive(values, from, tag);
  }
  std::optional<Arrived> arrived(int from, int tag) override { return inner_.arrived(from, tag); }
  Arrived await(int from, int tag) override { return inner_.await(from, tag); }
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
    return inner_.group(ranks);
  }
  Traffic traffic() const override { return inner_.traffic(); }

 private:
  class Slow final : public comm::Pending::Transfer {
   public:
    Slow(comm::Pending inner, const int& step, int from)
        : inner_(std::move(inner)), step_(step), from_(from) {}
    bool done() override {
      if (step_ < from_) return false;
      inner_.wait();
      return true;
    }
    void wait() override { inner_.wait(); }
    void wait_or(const std::function<bool()>& enough) override { inner_.wait_or(enough); }

   private:
    comm::Pending inner_;
    const int& step_;
    int from_;
  };

  comm::Communicator& inner_;
  int delay_;
};

TEST(HierarchicalParallelSgd, AnAdaptivePeriodEndsWhenTheSumHasArrivedOnTheLastRank) {
  constexpr int steps = 12, delays[] = {1, 3, 2, 1};
  std::vector<Rows> after(steps, Rows(4));
  comm::Threads(4).run([&](comm::Communicator& world) {
    Late group(world, delays[world.rank()]);
    const auto strategy = toy::make("hierarchical_parallel_sgd", {{"adaptive", true}}, group);
    toy::Worker worker(group, count);
    for (group.step = 0; group.step < steps; ++group.step) {
      strategy->step(worker);
      const auto weights = worker.weights().as<double>();
      after[std::size_t(group.step)][std::size_t(world.rank())] = {weights.begin(), weights.end()};
    }
  });
  Simulation rule(4);
  for (int step = 0; step < steps; ++step) {
    rule.step(step % 3 == 0);  // the first needs no sum, the others take three steps
    toy::expect_near(after[std::size_t(step)], rule.x.w);
  }
}

TEST(HierarchicalParallelSgd, RefusesMomentumAndTwoKindsOfPeriod) {
  const Method& entry = method("hierarchical_parallel_sgd");
  entry.check_optimizer(0);
  for (std::optional<double> momentum : {std::optional(0.9), std::optional<double>()}) {
    try {
      entry.check_optimizer(momentum);
      FAIL();
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      EXPECT_THAT(error.what(), testing::HasSubstr("momentum = 0"));
    }
  }
  EXPECT_THROW(
      toy::train({.method = "hierarchical_parallel_sgd", .ranks = 1, .steps = 1, .momentum = 0.9}),
      base::Error);
  const base::Settings both("hierarchical_parallel_sgd", entry.options,
                            {{"adaptive", true}, {"period", std::int64_t(2)}});
  EXPECT_THROW(entry.part(0, 1, {.node = {0}}, both), base::Error);
}

}  // namespace
}  // namespace parajoule::strategy
