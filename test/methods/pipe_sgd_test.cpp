// Pipe-SGD in every world. Its formula is tested beside its file; here are the sequences of its
// specification and the methods it must be equal to.
#include <string>

#include <gtest/gtest.h>

#include "bodies.h"

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

TEST(PipeSgd, GivesTheSequencesOfToy1) {
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

TEST(PipeSgd, OfWidthOneEqualsSynchronousBitForBit) {
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

TEST(PipeSgd, AppliesWhatIsInThePipeAtTheEnd) {
  // Constant gradients: in the end every one has acted once, as in synchronous training.
  for (const std::int64_t width : {1, 2, 4}) {
    const Problem problem = Problem::given_gradients({{{1, -2}, {3, 5}, {2, 0}}});
    const Outcome found = run(piped({{"width", width}}, problem, 3, 5));
    for (const Row& row : found.finished) expect_near(row, {-1, -0.5}, 1e-14, "weights");
  }
}

TEST(PipeSgd, HasEqualReplicasAlsoWithACodec) {
  for (const std::string codec : {"none", "truncate16", "scale8"}) {
    const Outcome found = run(piped({{"codec", codec}}, with_momentum(5), 5, 30));
    for (const auto& weights : found.weights)
      for (const Row& row : weights) EXPECT_EQ(row, weights.front()) << codec;
  }
}

TEST(PipeSgd, GoesOnFromWhatItSavedWithAFullPipe) {
  for (const std::string codec : {"none", "scale8"}) {
    const Case whole =
        piped({{"width", std::int64_t(3)}, {"codec", codec}}, with_momentum(4), 4, 9);
    for (const std::int64_t after : {1, 2, 5}) {
      Case halves = whole;
      halves.resume_after = after;
      EXPECT_TRUE(run(halves) == run(whole)) << codec << ", " << after;
    }
  }
}

}  // namespace
}  // namespace parajoule::methods
