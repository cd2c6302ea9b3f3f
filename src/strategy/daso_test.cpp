#include "strategy/daso.h"

#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Given;
using toy::Replicas;
using toy::Rows;
using toy::Trial;

constexpr std::int64_t never = 0;

/// Twelve batches an epoch, the cycle from the first on.
Trial trial(int nodes, int each, const DasoPace& start, int steps) {
  Trial made{.method = "daso",
             .options = {{"global_skip", start.global_skip},
                         {"local_skip", start.local_skip},
                         {"wait", start.wait},
                         {"warmup_epochs", never},
                         {"cooldown_epochs", never},
                         {"downcast", std::string("none")}},
             .ranks = nodes * each,
             .steps = steps};
  made.ranks_per_node = each;
  made.progress = [](int, int step, Progress& progress) {
    progress.epoch = step / 12;
    progress.last_of_epoch = step % 12 == 11;
    progress.loss = step / 12 == 0 ? 0 : std::pow(0.5, step / 12);
  };
  return made;
}

/// The rules of the header's comment in plain numbers, one node after the other.
class Simulation {
 public:
  Simulation(int nodes, int each, std::size_t count, double momentum)
      : all(nodes * each, count, momentum), nodes_(nodes), each_(each) {}

  void batch(int t, const DasoPace& pace, bool last) {
    take(pace.local_skip <= 1 || t % pace.local_skip == 0 || t % pace.global_skip <= pace.wait ||
         last);
    if (pace.blocking() || last) {
      hand_round(seat_, [&](int) { return mean_of(seat_); });
      sent_.clear();
      seat_ = last ? 0 : (seat_ + 1) % each_;
      return;
    }
    const bool sends = t % pace.global_skip == 0;
    const int seat = seat_;
    const auto sum = sum_of(seat);
    merge(t);
    if (!sends) return;
    sent_.push_back({t + int(pace.wait), seat, double(pace.wait), sum});
    seat_ = (seat_ + 1) % each_;
  }

  Replicas all;

 private:
  struct Sent {
    int due;
    int seat;
    double wait;
    Replicas::Row sum;
  };

  Replicas::Row sum_of(int seat) const {
    Replicas::Row sum(all.w[0].size());
    for (int p = 0; p < nodes_; ++p)
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += all.w[p * each_ + seat][k];
    return sum;
  }

  Replicas::Row mean_of(int seat) const {
    auto mean = sum_of(seat);
    for (double& value : mean) value /= nodes_;
    return mean;
  }

  template <class Value>
  void hand_round(int seat, const Value& of_node) {
    Rows values;
    for (int p = 0; p < nodes_; ++p) values.push_back(of_node(p * each_ + seat));
    for (int r = 0; r < int(all.w.size()); ++r) all.w[r] = values[r / each_];
  }

  void take(bool together) {
    Rows gradients;
    for (int r = 0; r < int(all.w.size()); ++r) gradients.push_back(all.gradient(r));
    for (int r = 0; r < int(all.w.size()); ++r) {
      const auto node = gradients.begin() + r / each_ * each_;
      all.update(r, together ? toy::mean(Rows(node, node + each_)) : gradients[r]);
    }
  }

  void merge(int t) {
    if (sent_.empty() || sent_[0].due != t) return;
    const Sent arrived = sent_[0];
    sent_.erase(sent_.begin());
    const double s = 2 * arrived.wait;
    hand_round(arrived.seat, [&](int r) {
      auto x = all.w[r];
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = (s * x[k] + arrived.sum[k]) / (s + nodes_);
      return x;
    });
  }

  int nodes_, each_;
  int seat_ = 0;
  std::vector<Sent> sent_;
};

TEST(Daso, EqualsItsSequentialSimulation) {
  for (const DasoPace& start : {DasoPace{4, 1, 1}, DasoPace{4, 2, 1}, DasoPace{6, 3, 2},
                                DasoPace{1, 1, 1}, DasoPace{3, 1, 3}, DasoPace{0, 1, 1}}) {
    for (const auto& [nodes, each] : {std::pair(2, 1), {2, 2}, {3, 1}, {2, 3}, {4, 2}}) {
      Trial made = trial(nodes, each, start, 30);
      made.momentum = 0.5;
      const auto ours = toy::train(made);
      Simulation theirs(nodes, each, made.count, made.momentum);
      for (int step = 0; step < made.steps; ++step) {
        theirs.batch(step % 12, start.blocking() ? DasoPace{} : start, step % 12 == 11);
        toy::expect_near(ours.after[step], theirs.all.w, 1e-12);
      }
      const Rows mean(nodes * each, toy::mean(theirs.all.w));
      toy::expect_near(ours.evaluated, mean, 1e-12);
      toy::expect_near(ours.finished, mean, 1e-12);
    }
  }
}

TEST(Daso, MergesAsThePaperPrints) {  // DASO1: x = 2 and a sum of 12 over 4 nodes
  for (const auto& [wait, merged] : {std::pair(1, 2.666667), std::pair(2, 2.5)}) {
    Trial made = toy::without_samples(trial(4, 1, {4, 1, wait}, wait + 1));
    made.start = [](int rank, std::size_t) { return std::vector<double>{2, 2, 4, 4}[rank]; };
    EXPECT_NEAR(toy::train(made).last()[0][0], merged, 1e-6);
  }
}

TEST(Daso, ChangesItsPaceAsItsCodeDoes) {  // DASO2: 40 epochs of constant loss
  DasoCycle cycle({});
  const DasoPace stop{}, four{4, 1, 1}, two{2, 1, 1}, one{1, 1, 1}, eight{8, 2, 2};
  const std::vector<std::pair<int, DasoPace>> until{
      {3, stop}, {6, four},   {9, two},   {12, one}, {15, eight}, {18, four}, {21, two},
      {24, one}, {27, eight}, {30, four}, {33, two}, {35, one},   {40, stop}};
  auto now = until.begin();
  for (int done = 0; done <= 40; ++done) {
    if (done > now->first) ++now;
    cycle.begin_epoch(done, 40, done == 0 ? 0 : 1.0);
    EXPECT_EQ(cycle.pace(), now->second) << "after epoch " << done;
  }
}

TEST(Daso, KeepsItsPaceWhileTheLossFalls) {
  DasoCycle cycle({.warmup_epochs = 0, .cooldown_epochs = 0});
  double loss = 0;
  for (int epoch = 0; epoch < 20; ++epoch) {
    cycle.begin_epoch(epoch, 20, loss);
    EXPECT_EQ(cycle.pace(), (DasoPace{4, 1, 1})) << epoch;
    loss = epoch == 0 ? 1 : loss * 0.94;
  }
}

TEST(Daso, WaitingInEveryBatchItIsSynchronous) {  // DASO3, I14
  for (const auto& [nodes, each] : {std::pair(1, 1), {1, 4}, {2, 2}, {4, 1}, {5, 1}, {2, 4}}) {
    Trial made = trial(nodes, each, {0, 1, 1}, 24);
    made.momentum = 0.9;
    made.progress = [ranks = made.ranks](int rank, int step, Progress& progress) {
      progress.samples = (rank + step) % ranks;  // now and then none at all
      progress.samples_of_all = ranks * (ranks - 1) / 2;
    };
    Trial synchronous = made;
    synchronous.method = "synchronous";
    synchronous.options = {};
    toy::expect_near(toy::train(made).last(), toy::train(synchronous).last(), 1e-12);
  }
}

TEST(Daso, OneNodeIsSynchronousToTheLastBit) {  // I15
  for (const int ranks : {1, 3}) {
    Trial made = trial(1, ranks, {2, 1, 1}, 24);
    made.options["downcast"] = std::string("bfloat16");
    made.momentum = 0.9;
    Trial synchronous = made;
    synchronous.method = "synchronous";
    synchronous.options = {{"overlap", std::string("none")}};
    EXPECT_EQ(toy::train(made).after, toy::train(synchronous).after);
  }
}

TEST(Daso, BetweenNodesSendsBfloat16WhileItWaits) {  // DASO3, DASO4
  Trial made = trial(4, 1, {0, 1, 1}, 1);
  made.count = 11;
  const auto exact = toy::train(made);
  EXPECT_EQ(exact.bytes, toy::sum_bytes(4, 11));
  made.options["downcast"] = std::string("bfloat16");
  const auto rounded = toy::train(made);
  EXPECT_EQ(rounded.bytes, toy::sum_bytes(4, 11, 2));
  EXPECT_NE(rounded.last(), exact.last());
  Replicas all(4, made.count);
  all.step_all();
  for (std::size_t k = 0; k < made.count; ++k) {
    // Each node's weights are rounded once, and each sum on the way from node to node.
    double magnitude = 0;
    for (int p = 0; p < 4; ++p) magnitude += std::abs(all.w[p][k]) / 4;
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(rounded.last()[r][k], rounded.last()[0][k]);
      EXPECT_NEAR(rounded.last()[r][k], exact.last()[r][k], 5 * std::ldexp(1, -9) * magnitude);
    }
  }
}

TEST(Daso, SendsOneExchangeEveryGlobalSkipBatches) {  // DASO4
  const std::uint64_t m = 3;
  const auto done = toy::train(trial(4, 1, {4, 1, 1}, 8));
  EXPECT_EQ(done.bytes, 2 * toy::sum_bytes(4, m));
  // Within each of two nodes: a sum of gradients a batch, and what is handed round afterwards.
  const auto wide = toy::train(trial(2, 3, {4, 1, 1}, 8));
  const auto sum = toy::counted_bytes(3, m, [](auto& group, auto values) { group.sum(values); });
  const auto round =
      toy::counted_bytes(3, m, [](auto& group, auto values) { group.broadcast(values, 1); });
  EXPECT_EQ(wide.bytes, 8 * 2 * sum + 2 * (toy::sum_bytes(2, m) + 2 * round));
}

std::string refusal(const Given& given, const comm::Nodes& nodes) {
  const Method& chosen = method("daso");
  try {
    chosen.part(0, int(nodes.node.size()), nodes,
                base::Settings(chosen.name, chosen.options, given));
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    return error.what();
  }
  return "";
}

TEST(Daso, RefusesNodesOfDifferentSizesAndAWaitTooLong) {
  EXPECT_NE(refusal({}, {{0, 0, 1}}).find("one node has 2 ranks and another 1"), std::string::npos);
  EXPECT_NE(refusal({{"wait", std::int64_t(5)}}, {{0, 1}}).find("daso.wait = 5"),
            std::string::npos);
  EXPECT_EQ(refusal({}, {{0, 1, 0, 1}}), "");
}

}  // namespace
}  // namespace parajoule::strategy
