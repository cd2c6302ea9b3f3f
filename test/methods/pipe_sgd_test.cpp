// Pipe-SGD in every world: w <- w - lr G with G from K - 1 steps ago.
#include <deque>
#include <string>

#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

Case piped(Given settings, Problem problem, int ranks, std::int64_t steps) {
  return {.method = "pipe_sgd",
          .settings = std::move(settings),
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps};
}

Problem with_momentum(int ranks) {
  Problem problem = varied(ranks, 37);
  problem.momentum = 0.9;
  return problem;
}

struct Pipe {
  int width = 2, warmup = 0;
  bool repeat = false;
};

/// The rule: all replicas are one.
class Simulation {
 public:
  Simulation(const Problem& problem, int ranks, const Pipe& pipe)
      : all(problem, ranks), problem_(problem), pipe_(pipe) {}

  void step() {
    const Row mean = weighted(all.gradients(), weights_of(problem_, all.ranks(), at_));
    const bool first = pipe_.repeat && at_ == pipe_.warmup;
    if (pipe_.width == 1 || at_ < pipe_.warmup || first) apply(mean);
    if (pipe_.width > 1 && at_ >= pipe_.warmup) {
      if (!first && int(in_pipe_.size()) == pipe_.width - 1) apply_oldest();
      in_pipe_.push_back(mean);
    }
    ++at_;
  }
  void finish() {
    while (!in_pipe_.empty()) apply_oldest();
  }

  Replicas all;

 private:
  void apply(const Row& gradient) {
    for (int r = 0; r < all.ranks(); ++r) all.update(r, gradient, problem_.learning_rate.front());
  }
  void apply_oldest() {
    apply(in_pipe_.front());
    in_pipe_.pop_front();
  }

  const Problem& problem_;
  Pipe pipe_;
  int at_ = 0;
  std::deque<Row> in_pipe_;
};

void expect_like_simulation(int ranks, const Pipe& pipe) {
  const Problem problem = uneven(ranks, 37);
  Case made = piped({{"width", std::int64_t(pipe.width)},
                     {"warmup_steps", std::int64_t(pipe.warmup)},
                     {"start", std::string(pipe.repeat ? "repeat" : "zero")}},
                    problem, ranks, 10);
  made.evaluate = true;
  const Outcome found = run(made);
  Simulation rule(problem, ranks, pipe);
  for (int step = 1; step <= 10; ++step) {
    rule.step();
    expect_after(found, step, rule.all.w);
    for (int r = 0; r < ranks; ++r) EXPECT_EQ(found.after(step, r), found.after(step, 0));
  }
  for (const Row& row : found.evaluated) EXPECT_EQ(row, found.after(10, 0));
  rule.finish();
  for (const Row& row : found.finished) expect_near(row, rule.all.w[0], 1e-13, "finished");
}

TEST(PipeSgd, EqualsItsSequentialSimulation) {  // with short batches and ranks without samples
  for (const int ranks : rank_counts) {
    for (const int width : {1, 2, 3, 4})
      for (const int warmup : {0, 3}) expect_like_simulation(ranks, {width, warmup});
    for (const int warmup : {0, 3}) expect_like_simulation(ranks, {2, warmup, true});
  }
}

TEST(PipeSgd, GivesTheSequencesOfToy1) {  // A1
  const std::pair<Given, Row> sequences[] = {
      {{{"width", std::int64_t(1)}}, {.98, .9612, .943528, .92691632, .9113013408, .896623260352}},
      {{{"width", std::int64_t(2)}}, {1, .98, .96, .9412, .9236, .907128}},
      {{{"start", std::string("repeat")}}, {.98, .96, .9412, .9236, .907128, .891712}}};
  for (const int ranks : rank_counts) {
    for (const auto& [settings, wanted] : sequences) {
      const Outcome found = run(piped(settings, toy1(ranks), ranks, 6));
      for (int step = 1; step <= 6; ++step)
        for (int rank = 0; rank < ranks; ++rank)
          expect_near(found.after(step, rank), Row(3, wanted[std::size_t(step - 1)]), 1e-12,
                      "weights");
    }
  }
}

TEST(PipeSgd, OfWidthOneEqualsSynchronousBitForBit) {  // A2
  for (const int ranks : rank_counts) {
    const Outcome synchronous = run({.method = "synchronous",
                                     .settings = {{"overlap", std::string("none")}},
                                     .problem = with_momentum(ranks),
                                     .ranks = ranks,
                                     .steps = 12});
    EXPECT_TRUE(run(piped({{"width", std::int64_t(1)}}, with_momentum(ranks), ranks, 12)) ==
                synchronous);
  }
}

TEST(PipeSgd, HasEqualReplicasAlsoWithACodec) {
  for (const std::string codec : {"none", "truncate16", "scale8"}) {
    const Outcome found = run(piped({{"codec", codec}}, with_momentum(5), 5, 30));
    for (const auto& weights : found.weights)
      for (const Row& row : weights) EXPECT_EQ(row, weights.front()) << codec;
  }
}

}  // namespace
}  // namespace parajoule::methods
