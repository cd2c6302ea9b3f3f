#include "nn/task.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <torch/torch.h>

namespace parajoule::nn {

namespace {

class Classification final : public Task {
 public:
  explicit Classification(int classes) {
    metrics_.push_back({.name = "loss", .unit = "", .factor = 1});
    metrics_.push_back({.name = "top1_error", .unit = "%", .factor = 100});
    if (classes >= 6) metrics_.push_back({.name = "top5_error", .unit = "%", .factor = 100});
  }

  at::Tensor loss(const at::Tensor& outputs, const at::Tensor& targets) const override {
    const bool exact = outputs.scalar_type() == at::kDouble;
    return at::cross_entropy_loss(exact ? outputs : outputs.to(at::kFloat), targets);
  }

  at::Tensor losses(const at::Tensor& outputs, const at::Tensor& targets) const override {
    return at::cross_entropy_loss(outputs.detach().to(at::kDouble), targets, {},
                                  at::Reduction::None);
  }

  const std::vector<Metric>& metrics() const override { return metrics_; }

  std::vector<std::vector<Score>> scores(const at::Tensor& outputs,
                                         const at::Tensor& targets) const override {
    const at::Tensor values = outputs.detach().to(at::kDouble).contiguous();
    const at::Tensor classes = targets.to(at::kLong).contiguous();
    const std::size_t width = std::size_t(values.size(1));
    std::vector<std::vector<Score>> scores(metrics_.size());
    for (std::int64_t i = 0; i < values.size(0); ++i) {
      const std::span row(values.data_ptr<double>() + i * values.size(1), width);
      const std::size_t target = std::size_t(classes.data_ptr<std::int64_t>()[i]);
      const std::size_t before = better(row, target);
      scores[0].push_back({cross_entropy(row, target), 1});
      scores[1].push_back({before >= 1 ? 1.0 : 0.0, 1});
      if (scores.size() > 2) scores[2].push_back({before >= 5 ? 1.0 : 0.0, 1});
    }
    return scores;
  }

 private:
  /// Classes that come before `target`; all of them if there is an output that is no number.
  static std::size_t better(std::span<const double> row, std::size_t target) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::isnan(row[i])) return row.size();
      if (row[i] > row[target] || (row[i] == row[target] && i < target)) ++count;
    }
    return count;
  }

  static double cross_entropy(std::span<const double> row, std::size_t target) {
    const double most = *std::ranges::max_element(row);
    double sum = 0;
    for (double value : row) sum += std::exp(value - most);
    return most + std::log(sum) - row[target];
  }

  std::vector<Metric> metrics_;
};

}  // namespace

std::unique_ptr<Task> classification(int classes) {
  return std::make_unique<Classification>(classes);
}

}  // namespace parajoule::nn
