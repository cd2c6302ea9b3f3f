#include "strategy/daso.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Given;
using toy::Replicas;
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
