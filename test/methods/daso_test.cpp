// DASO in every world, against its rules in plain numbers.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

struct Pace {
  std::int64_t global_skip = 0, local_skip = 1, wait = 1;
};

/// Twelve batches an epoch, the cycle from the first on; the loss falls, so the pace stays.
Case trial(int nodes, int each, const Pace& pace, std::int64_t steps) {
  Problem problem = varied(nodes * each, 5);
  problem.momentum = 0.5;
  problem.steps_per_epoch = 12;
  problem.loss = {1, 0.5, 0.25, 0.125};
  return {.method = "daso",
          .settings = {{"global_skip", pace.global_skip},
                       {"local_skip", pace.local_skip},
                       {"wait", pace.wait},
                       {"warmup_epochs", std::int64_t(0)},
                       {"cooldown_epochs", std::int64_t(0)},
                       {"downcast", std::string("none")}},
          .problem = problem,
          .ranks = nodes * each,
          .steps = steps,
          .ranks_per_node = each,
          .evaluate = true};
}

/// The rules of the specification, one node after the other.
class Simulation {
 public:
  Simulation(const Problem& problem, int nodes, int each)
      : all(problem, nodes * each), nodes_(nodes), each_(each) {}

  void batch(int t, const Pace& pace) {
    const bool last = t == 11;
    const bool blocking = pace.global_skip == 0;
    take(blocking || pace.local_skip == 1 || t % pace.local_skip == 0 ||
         t % pace.global_skip <= pace.wait || last);
    if (blocking || last) {
      Row mean = sum_of(seat_);
      for (double& value : mean) value /= nodes_;
      all.w.assign(all.w.size(), mean);
      sent_.clear();
      seat_ = last ? 0 : (seat_ + 1) % each_;
      return;
    }
    const Row sum = sum_of(seat_);
    merge(t);
    if (t % pace.global_skip != 0) return;
    sent_.push_back({t + int(pace.wait), seat_, double(pace.wait), sum});
    seat_ = (seat_ + 1) % each_;
  }

  Replicas all;

 private:
  struct Sent {
    int due;
    int seat;
    double wait;
    Row sum;
  };

  Row sum_of(int seat) const {
    Row sum(all.w[0].size());
    for (int p = 0; p < nodes_; ++p)
      for (std::size_t k = 0; k < sum.size(); ++k)
        sum[k] += all.w[std::size_t(p * each_ + seat)][k];
    return sum;
  }

  void take(bool together) {
    const std::vector<Row> gradients = all.gradients();
    for (int r = 0; r < all.ranks(); ++r) {
      const auto node = gradients.begin() + r / each_ * each_;
      all.update(r, together ? mean({node, node + each_}) : gradients[std::size_t(r)], 0.1);
    }
  }

  void merge(int t) {
    if (sent_.empty() || sent_[0].due != t) return;
    const Sent arrived = sent_[0];
    sent_.erase(sent_.begin());
    const double s = 2 * arrived.wait;
    for (int p = 0; p < nodes_; ++p) {
      Row x = all.w[std::size_t(p * each_ + arrived.seat)];
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = (s * x[k] + arrived.sum[k]) / (s + nodes_);
      for (int r = p * each_; r < (p + 1) * each_; ++r) all.w[std::size_t(r)] = x;
    }
  }

  int nodes_, each_;
  int seat_ = 0;
  std::vector<Sent> sent_;
};

TEST(Daso, EqualsItsSequentialSimulation) {
  for (const Pace& pace :
       {Pace{4, 1, 1}, Pace{4, 2, 1}, Pace{6, 3, 2}, Pace{1, 1, 1}, Pace{3, 1, 3}, Pace{0, 1, 1}})
    for (const auto& [nodes, each] : {std::pair(2, 1), {2, 2}, {3, 1}, {5, 1}, {2, 3}, {4, 2}}) {
      const Case made = trial(nodes, each, pace, 30);
      const Outcome found = run(made);
      Simulation theirs(made.problem, nodes, each);
      for (int step = 0; step < 30; ++step) {
        theirs.batch(step % 12, pace);
        expect_after(found, step + 1, theirs.all.w, 1e-12);
      }
      expect_ends_with(found, mean(theirs.all.w), 1e-12);
    }
}

TEST(Daso, MergesAsThePaperPrints) {  // DASO1: x = 2 and a sum of 12 over 4 nodes
  for (const auto& [wait, merged] : {std::pair(1, 2.666667), std::pair(2, 2.5)}) {
    Case made = trial(4, 1, {4, 1, wait}, wait + 1);
    made.problem.objective = exact::None();
    made.problem.start = {{2}, {2}, {4}, {4}};
    EXPECT_NEAR(run(made).after(wait + 1, 0)[0], merged, 1e-6);
  }
}

TEST(Daso, WaitingInEveryBatchItIsSynchronous) {  // DASO3, I14
  for (const auto& [nodes, each] : {std::pair(1, 1), {1, 4}, {2, 2}, {4, 1}, {5, 1}, {2, 4}}) {
    Case made = trial(nodes, each, {0, 1, 1}, 24);
    for (int r = 0; r < made.ranks; ++r) made.problem.samples.push_back({(r + 1) % made.ranks});
    if (made.ranks == 1) made.problem.samples = {{1}};
    Case synchronous = made;
    synchronous.method = "synchronous";
    synchronous.settings = {};
    const Outcome theirs = run(synchronous);
    const Outcome found = run(made);
    for (int step = 1; step <= 24; ++step)
      expect_after(found, step, theirs.weights[std::size_t(step) - 1], 1e-12);
  }
}

TEST(Daso, OnOneRankIsSerialBitForBit) {  // I15
  expect_serial_on_one_rank("daso", {{"warmup_epochs", std::int64_t(0)}});
}

}  // namespace
}  // namespace parajoule::methods
