// Gradients against the slope of the loss, which is written here once more from its definition.
#include "exact/pass.h"

#include <functional>

#include <gtest/gtest.h>

namespace parajoule::exact {
namespace {

/// The gradient at `weights`, computed in layers of these ranges.
Row gradient_at(const Problem& problem, int trainer, const Row& weights,
                const std::vector<base::Range>& layers) {
  Row gradients(weights.size(), -7);
  const auto pass = begin_pass(problem, trainer, 0);
  const auto of = [](base::Range range, auto& row) {
    return std::span(row).subspan(range.begin, range.size());
  };
  for (const auto& range : layers) pass->forward(range, of(range, weights));
  for (auto range = layers.rbegin(); range != layers.rend(); ++range)
    pass->backward(*range, of(*range, weights), of(*range, gradients));
  return gradients;
}

/// Central differences; for a loss of the second degree they are exact but for rounding.
Row slope(const std::function<double(const Row&)>& loss, const Row& weights) {
  constexpr double h = 1e-3;
  Row slopes;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    Row more = weights, less = weights;
    more[k] += h;
    less[k] -= h;
    slopes.push_back((loss(more) - loss(less)) / (2 * h));
  }
  return slopes;
}

void expect_near(const Row& ours, const Row& wanted, double tolerance) {
  ASSERT_EQ(ours.size(), wanted.size());
  for (std::size_t k = 0; k < ours.size(); ++k) EXPECT_NEAR(ours[k], wanted[k], tolerance) << k;
}

TEST(Pass, QuadraticIsTheSlopeOfItsLoss) {
  const Quadratic q{{{1, 2, 3}, {0.5, 4, 0}}, {{1, -1, 2}, {0, 0.5, 3}}};
  const Problem problem = Problem::quadratic(q.curvature, q.target);
  const Row weights{0.3, -2, 5};
  for (int rank : {0, 1}) {
    const auto loss = [&](const Row& w) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += 0.5 * q.curvature[rank][k] * (w[k] - q.target[rank][k]) * (w[k] - q.target[rank][k]);
      return sum;
    };
    expect_near(gradient_at(problem, rank, weights, {{0, 1}, {1, 3}}), slope(loss, weights), 1e-9);
  }
}

TEST(Pass, LeastSquaresIsTheSlopeOfItsMeanOverTheRows) {
  const std::vector<std::vector<Row>> inputs{{{1, 2, -1}, {0.5, 0, 3}, {2, 2, 2}}, {{1, 1, 1}}};
  const std::vector<Row> outputs{{1, -2, 0.5}, {2}};
  const Problem problem = Problem::least_squares(inputs, outputs);
  const Row weights{0.3, -2, 5};
  for (int rank : {0, 1}) {
    const auto loss = [&](const Row& w) {
      double sum = 0;
      for (std::size_t i = 0; i < inputs[rank].size(); ++i) {
        const Row& x = inputs[rank][i];
        const double miss = x[0] * w[0] + x[1] * w[1] + x[2] * w[2] - outputs[rank][i];
        sum += miss * miss / double(inputs[rank].size());
      }
      return sum;
    };
    for (const auto& layers : {std::vector<base::Range>{{0, 3}}, {{0, 2}, {2, 3}}})
      expect_near(gradient_at(problem, rank, weights, layers), slope(loss, weights), 1e-8);
  }
}

/// |W2 W1 x - y|^2 of one row, W1 (2x3) and W2 (2x2) by rows.
double network_loss(const Row& w, const Row& x, const Row& y) {
  const double a = w[0] * x[0] + w[1] * x[1] + w[2] * x[2];
  const double b = w[3] * x[0] + w[4] * x[1] + w[5] * x[2];
  const double c = w[6] * a + w[7] * b - y[0], d = w[8] * a + w[9] * b - y[1];
  return c * c + d * d;
}

TEST(Pass, LinearNetworkIsTheSlopeOfItsMeanOverTheRows) {
  const LinearNetwork network{
      {{2, 3}, {2, 2}}, {{{1, 2, -1}, {0.5, 0, 3}}}, {{{1, -2}, {0.5, 0.25}}}};
  const Problem problem = Problem::linear_network(network);
  const Row weights{0.3, -0.2, 0.5, 0.1, 0.4, -0.6, 1.5, -0.7, 0.2, 0.9};
  const auto loss = [&](const Row& w) {
    return (network_loss(w, network.inputs[0][0], network.outputs[0][0]) +
            network_loss(w, network.inputs[0][1], network.outputs[0][1])) /
           2;
  };
  expect_near(gradient_at(problem, 0, weights, {{0, 6}, {6, 10}}), slope(loss, weights), 1e-8);
}

TEST(Pass, GivenGradientsAreGivenAndTheLastRepeats) {
  const Problem problem = Problem::given_gradients({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}});
  for (const std::int64_t step : {0, 1, 2, 9}) {
    Row found(2);
    const auto pass = begin_pass(problem, 1, step);
    pass->backward({0, 2}, {}, found);
    EXPECT_EQ(found, step == 0 ? Row({3, 4}) : Row({7, 8})) << step;
  }
}

}  // namespace
}  // namespace parajoule::exact
