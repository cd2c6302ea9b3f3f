#include "exact/pass.h"

#include <algorithm>
#include <vector>

namespace parajoule::exact {
namespace {

using base::Range;
using Weights = std::span<const double>;
using Result = std::span<double>;

class QuadraticPass final : public Pass {
 public:
  QuadraticPass(const Quadratic& problem, int trainer)
      : curvature_(problem.curvature[std::size_t(trainer)]),
        target_(problem.target[std::size_t(trainer)]) {}

  void forward(Range, Weights) override {}
  void backward(Range range, Weights weights, Result gradients) override {
    for (std::size_t k = 0; k < range.size(); ++k)
      gradients[k] = curvature_[range.begin + k] * (weights[k] - target_[range.begin + k]);
  }

 private:
  const Row& curvature_;
  const Row& target_;
};

class LeastSquaresPass final : public Pass {
 public:
  LeastSquaresPass(const LeastSquares& problem, int trainer)
      : inputs_(problem.inputs[std::size_t(trainer)]),
        outputs_(problem.outputs[std::size_t(trainer)]),
        found_(inputs_.size()) {}

  void forward(Range range, Weights weights) override {
    for (std::size_t row = 0; row < inputs_.size(); ++row)
      for (std::size_t k = 0; k < range.size(); ++k)
        found_[row] += inputs_[row][range.begin + k] * weights[k];
  }

  void backward(Range range, Weights, Result gradients) override {
    std::ranges::fill(gradients, 0);
    for (std::size_t row = 0; row < inputs_.size(); ++row)
      for (std::size_t k = 0; k < range.size(); ++k)
        gradients[k] += 2 * (found_[row] - outputs_[row]) * inputs_[row][range.begin + k];
    for (double& gradient : gradients) gradient /= double(inputs_.size());
  }

 private:
  const std::vector<Row>& inputs_;
  const Row& outputs_;
  std::vector<double> found_;  ///< w . x of each row, as far as the layers have come
};

class GivenPass final : public Pass {
 public:
  explicit GivenPass(const Row& gradients) : gradients_(gradients) {}
  void forward(Range, Weights) override {}
  void backward(Range range, Weights, Result gradients) override {
    std::ranges::copy(std::span(gradients_).subspan(range.begin, range.size()), gradients.begin());
  }

 private:
  const Row& gradients_;
};

class ZeroPass final : public Pass {
 public:
  void forward(Range, Weights) override {}
  void backward(Range, Weights, Result gradients) override { std::ranges::fill(gradients, 0); }
};

class LinearNetworkPass final : public Pass {
 public:
  LinearNetworkPass(const LinearNetwork& problem, int trainer)
      : layers_(problem.layers),
        outputs_(problem.outputs[std::size_t(trainer)]),
        values_{problem.inputs[std::size_t(trainer)]} {}

  void forward(Range, Weights weights) override {
    const auto& layer = layers_[values_.size() - 1];
    std::vector<Row> next;
    for (const Row& x : values_.back()) {
      Row& y = next.emplace_back(layer.outputs);
      for (std::int64_t out = 0; out < layer.outputs; ++out)
        for (std::int64_t in = 0; in < layer.inputs; ++in)
          y[out] += weights[out * layer.inputs + in] * x[in];
    }
    values_.push_back(std::move(next));
  }

  void backward(Range, Weights weights, Result gradients) override {
    if (values_.size() == layers_.size() + 1) begin_backward();
    values_.pop_back();
    const auto& layer = layers_[values_.size() - 1];
    std::ranges::fill(gradients, 0);
    for (std::size_t row = 0; row < slopes_.size(); ++row) {
      const Row& x = values_.back()[row];
      Row before(layer.inputs);
      for (std::int64_t out = 0; out < layer.outputs; ++out)
        for (std::int64_t in = 0; in < layer.inputs; ++in) {
          gradients[out * layer.inputs + in] += slopes_[row][out] * x[in];
          before[in] += slopes_[row][out] * weights[out * layer.inputs + in];
        }
      slopes_[row] = std::move(before);
    }
  }

 private:
  void begin_backward() {
    slopes_ = values_.back();
    const double factor = 2 / double(slopes_.size());
    for (std::size_t row = 0; row < slopes_.size(); ++row)
      for (std::size_t k = 0; k < slopes_[row].size(); ++k)
        slopes_[row][k] = factor * (slopes_[row][k] - outputs_[row][k]);
  }

  const std::vector<LinearNetwork::Layer>& layers_;
  const std::vector<Row>& outputs_;
  std::vector<std::vector<Row>> values_;  ///< of each layer that has been passed, each row
  std::vector<Row> slopes_;               ///< of the loss by what the layer gave, each row
};

}  // namespace

std::unique_ptr<Pass> begin_pass(const Problem& problem, int trainer, std::int64_t step) {
  struct Begin {
    int trainer;
    std::int64_t step;
    std::unique_ptr<Pass> operator()(const Quadratic& objective) const {
      return std::make_unique<QuadraticPass>(objective, trainer);
    }
    std::unique_ptr<Pass> operator()(const LeastSquares& objective) const {
      return std::make_unique<LeastSquaresPass>(objective, trainer);
    }
    std::unique_ptr<Pass> operator()(const Gradients& objective) const {
      return std::make_unique<GivenPass>(entry(objective.gradients, step)[std::size_t(trainer)]);
    }
    std::unique_ptr<Pass> operator()(const LinearNetwork& objective) const {
      return std::make_unique<LinearNetworkPass>(objective, trainer);
    }
    std::unique_ptr<Pass> operator()(const None&) const { return std::make_unique<ZeroPass>(); }
  };
  return std::visit(Begin{trainer, step}, problem.objective);
}

}  // namespace parajoule::exact
