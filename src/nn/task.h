#pragma once

// What a model is trained for.

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace parajoule::nn {

/// A metric of many samples is factor x (sum of numerators) / (sum of denominators).
struct Metric {
  std::string name;  ///< as in the record: "loss", "top1_error"
  std::string unit;  ///< as shown: "", "%"
  double factor = 1;
};

/// What one sample adds to a metric. Sums in the order of the samples are the same for any number
/// of ranks.
struct Score {
  double numerator = 0;
  double denominator = 0;
};

class Task {
 public:
  virtual ~Task() = default;

  /// outputs (B, ...) of the net, targets (B, ...) of the data -> the mean loss, one number in
  /// float32 or float64.
  virtual at::Tensor loss(const at::Tensor& outputs, const at::Tensor& targets) const = 0;

  /// The same of each sample (B), float64: their mean is the loss.
  virtual at::Tensor losses(const at::Tensor& outputs, const at::Tensor& targets) const = 0;

  virtual const std::vector<Metric>& metrics() const = 0;

  /// For each metric the scores of the B samples.
  virtual std::vector<std::vector<Score>> scores(const at::Tensor& outputs,
                                                 const at::Tensor& targets) const = 0;
};

/// Classification: outputs (B, classes) before the softmax, targets (B) int64. Metrics: loss
/// (cross-entropy), top1_error and, with at least six classes, top5_error, each in percent. A
/// sample counts as wrong when its class is not among the first 1 or 5, equal outputs in the order
/// of their classes; outputs that are not numbers are wrong.
std::unique_ptr<Task> classification(int classes);

}  // namespace parajoule::nn
