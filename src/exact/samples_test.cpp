#include "exact/samples.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/solo.h"
#include "exact/worker.h"

namespace parajoule::exact {
namespace {

/// Two ranks with two rows and three.
Problem squares() {
  Problem problem =
      Problem::least_squares({{{1, 2}, {0, 1}}, {{3, 1}, {1, 1}, {2, -1}}}, {{1, 2}, {0, 3, -1}});
  problem.start = {{0.5, -1}};
  return problem;
}

Problem network() {
  LinearNetwork made{.layers = {{3, 2}, {1, 3}},
                     .inputs = {{{1, 2}, {0, 1}}, {{3, 1}, {1, 1}, {2, -1}}},
                     .outputs = {{{1}, {2}}, {{0}, {3}, {-1}}}};
  return Problem::linear_network(made);
}

Problem quadratic() {
  Problem problem = Problem::quadratic({{1, 2}, {3, 4}}, {{1, -1}, {0.5, 2}});
  problem.start = {{0.5, -1}};
  return problem;
}

TEST(Samples, AreNumberedThroughTheRanks) {
  EXPECT_EQ(count_samples(squares()), 5);
  EXPECT_EQ(first_sample(squares(), 0), 0);
  EXPECT_EQ(first_sample(squares(), 1), 2);
  EXPECT_EQ(count_samples_of(squares(), 0), 2);
  EXPECT_EQ(count_samples_of(squares(), 1), 3);
  EXPECT_EQ(count_samples(quadratic()), 2);
  EXPECT_EQ(first_sample(quadratic(), 1), 1);
  EXPECT_EQ(count_samples(Problem()), 0);
}

TEST(Samples, LoseTheSquareOfWhatIsMissing) {
  EXPECT_EQ(loss_of(squares(), 0, Row{0.5, -1}), 2.5 * 2.5);     // (1, 2) . w = -1.5, wanted is 1
  EXPECT_EQ(loss_of(squares(), 4, Row{0.5, -1}), 3 * 3);         // (2, -1) . w = 2, wanted is -1
  EXPECT_EQ(loss_of(quadratic(), 1, Row{0.5, -1}), 4. / 2 * 9);  // of a = 4 and b = 2
}

TEST(Samples, ThatAreDrawnAreTheBatch) {
  for (const Problem& problem : {squares(), network(), quadratic()}) {
    comm::Solo world;
    Worker worker(world, problem, {.trainer = 0, .trainers = 2});
    const base::Vector losses = worker.losses();
    ASSERT_EQ(losses.count(), std::size_t(count_samples(problem)));
    for (const double loss : losses.as<double>()) EXPECT_TRUE(std::isinf(loss));

    // A batch each of the last samples first.
    const auto batch = std::size_t(worker.progress().samples);
    std::vector<std::int64_t> order;
    for (std::int64_t s = count_samples(problem); s-- > 0;) order.push_back(s);
    worker.draw(order);
    for (std::size_t begin = 0; begin + batch <= order.size(); begin += batch) {
      if (begin > 0) worker.begin_step(std::int64_t(begin / batch));
      worker.compute_gradients();
      const auto weights = worker.weights().as<double>();
      const auto mean_loss = [&](const Row& at) {
        double sum = 0;
        for (std::size_t i = 0; i < batch; ++i) sum += loss_of(problem, order[begin + i], at);
        return sum / double(batch);
      };
      for (std::size_t k = 0; k < weights.size(); ++k) {
        Row above(weights.begin(), weights.end()), below = above;
        above[k] += 1e-5;
        below[k] -= 1e-5;
        EXPECT_NEAR(worker.gradients().as<double>()[k],
                    (mean_loss(above) - mean_loss(below)) / 2e-5, 1e-7);
      }
      for (std::size_t i = 0; i < batch; ++i)
        EXPECT_EQ(losses.as<double>()[std::size_t(order[begin + i])],
                  loss_of(problem, order[begin + i], worker.current_weights()));
    }
  }
}

TEST(Samples, AreRefusedWhereThereAreNone) {
  Problem none;
  none.start = {{0}};
  comm::Solo world;
  Worker worker(world, none, {.trainer = 0, .trainers = 1});
  EXPECT_THROW(worker.losses(), base::Error);
  EXPECT_THROW(worker.draw({}), base::Error);
}

}  // namespace
}  // namespace parajoule::exact
