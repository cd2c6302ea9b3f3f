#pragma once

// A problem that can be computed by hand, for the tests of methods. Rank r minimises
//
//   f_r(w) = 1/2 sum_k a_r (w_k - b_rk)^2     with the gradient  a_r (w - b_r)
//
// The first parameter of the first four ranks is the four-rank toy of the method specifications.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/seed.h"
#include "comm/communicator.h"
#include "strategy/worker.h"

namespace parajoule::strategy::toy {

inline constexpr double rate = 0.1;

inline double curvature(int rank) { return 1 + rank % 4 + 0.25 * (rank / 4); }

inline double target(int rank, std::size_t k) {
  constexpr double of_four[] = {1, -1, 2, 0.5};
  return of_four[rank % 4] + 0.3 * (rank / 4) + 0.1 * double(k);
}

inline schedule::Layout layout_of(std::size_t count) {
  schedule::Layout layout;
  for (std::size_t i = 0; i < count; ++i)
    layout.parameters.push_back({.name = "w" + std::to_string(i),
                                 .shape = {1},
                                 .range = {i, i + 1},
                                 .backward = int(count - 1 - i)});
  return layout;
}

/// One rank, in double precision, with u <- m u + g, w <- w - rate u. Its gradient is that of
/// `trainer`, its number among the ranks that train; by default its rank.
class Worker : public strategy::Worker {
 public:
  Worker(comm::Communicator& group, std::size_t count, double momentum = 0,
         std::optional<int> trainer = {})
      : group_(group),
        trainer_(trainer.value_or(group.rank())),
        layout_(layout_of(count)),
        momentum_(momentum),
        weights_(group.allocate(base::Element::float64, count)),
        gradients_(group.allocate(base::Element::float64, count)),
        velocity_(group.allocate(base::Element::float64, count)),
        buffers_(group.allocate(base::Element::float64, 1)) {
    buffers_.fill(group.rank());
  }

  base::Vector weights() override { return weights_; }
  base::Vector gradients() override { return gradients_; }
  base::Vector buffers() override { return buffers_; }
  const schedule::Layout& layout() const override { return layout_; }
  base::Vector spare() override {
    return group_.allocate(base::Element::float64, weights_.count());
  }
  Progress progress() const override { return progress_; }
  base::Seconds now() const override { return base::Seconds(0); }
  using strategy::Worker::compute_gradients;
  using strategy::Worker::update;

  void compute_gradients(Watch& watch) override {
    const int r = trainer_;
    std::vector<std::size_t> order(weights_.count());
    std::iota(order.begin(), order.end(), 0);
    // Each rank finishes its gradients in an order of its own.
    base::Stream stream = base::stream(7, base::Purpose::order, r, progress_.step);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
    for (std::size_t k : order) {
      const double w = weights_.as<double>()[k];
      gradients_.as<double>()[k] = progress_.samples == 0 ? 0 : curvature(r) * (w - target(r, k));
      watch.ready({k, k + 1});
    }
  }

  void update(base::Vector weights, base::Vector gradients, base::Range range,
              double learning_rate) override {
    velocity_[range].scale(momentum_);
    velocity_[range].add(gradients[range]);
    weights[range].add(velocity_[range], -learning_rate);
  }
  std::optional<double> momentum() const override { return momentum_; }

  Progress progress_{.samples = 1, .samples_of_all = 4, .learning_rate = rate};

 protected:
  comm::Communicator& group_;

 private:
  int trainer_;
  schedule::Layout layout_;
  double momentum_;
  base::Vector weights_, gradients_, velocity_, buffers_;
};

/// The replicas of all ranks in plain numbers, for oracles: what a method does is written out in
/// its test, from the paper.
struct Replicas {
  using Row = std::vector<double>;

  Replicas(int ranks, std::size_t count, double momentum = 0)
      : w(std::size_t(ranks), Row(count)), u(w), momentum(momentum) {}

  Row gradient(int r) const {
    Row g(w[r].size());
    for (std::size_t k = 0; k < g.size(); ++k) g[k] = curvature(r) * (w[r][k] - target(r, k));
    return g;
  }
  void update(int r, const Row& gradient, double learning_rate = rate) {
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      u[r][k] = momentum * u[r][k] + gradient[k];
      w[r][k] -= learning_rate * u[r][k];
    }
  }
  void step(int r) { update(r, gradient(r)); }
  void step_all() {
    for (int r = 0; r < int(w.size()); ++r) step(r);
  }

  std::vector<Row> w, u;
  double momentum;
};

/// sum_r weight_r rows_r; equal weights that add up to one if none are given.
inline Replicas::Row mean(const std::vector<Replicas::Row>& rows,
                          const std::vector<double>& weight = {}) {
  Replicas::Row sum(rows[0].size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] += (weight.empty() ? 1.0 / double(rows.size()) : weight[r]) * rows[r][k];
  return sum;
}

}  // namespace parajoule::strategy::toy
