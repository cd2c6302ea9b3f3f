#include "train/evaluation.h"

#include <torch/torch.h>

#include "train/worker.h"

namespace parajoule::train {

std::optional<std::vector<nn::Score>> Evaluation::run(nn::Net& net, const Between& between) {
  const torch::NoGradGuard no_gradients;
  const nn::Lowered lowered(options_.precision);
  net.evaluate();
  const std::size_t metrics = task_.metrics().size();
  const std::int64_t chunks = (dataset_.size() + options_.chunk_size - 1) / options_.chunk_size;
  // Each chunk's sums stand in one place on one rank and are zero elsewhere, so the order in which
  // ranks are added does not matter. The last number says that a rank was interrupted.
  std::vector<double> sums(std::size_t(chunks) * metrics * 2 + 1);
  data::Loader::Options options = options_.loader;
  options.view = options_.view;
  data::Loader loader(
      dataset_,
      data::evaluation_pass(dataset_.size(), options_.chunk_size, group_.rank(), group_.size()),
      options);
  // Asked once more than there are chunks: a rank that was dealt none is asked too.
  while (sums.back() = between.interrupted(), sums.back() == 0 && loader.remaining() > 0) {
    const auto batch = loader.take();
    between.taken(batch);
    const std::size_t begin = std::size_t(batch.number) * metrics * 2;
    add_chunk(net, batch, base::Vector(std::span(sums))[{begin, begin + metrics * 2}]);
  }
  group_.sum(base::Vector(std::span(sums)));
  if (sums.back() > 0) return std::nullopt;
  std::vector<nn::Score> total(metrics);
  for (std::size_t i = 0; i + 1 < sums.size(); i += 2) {
    nn::Score& score = total[i / 2 % metrics];
    score.numerator += sums[i];
    score.denominator += sums[i + 1];
  }
  return total;
}

void Evaluation::add_chunk(nn::Net& net, const data::Loader::Batch& batch,
                           base::Vector sums) const {
  if (batch.count == 0) return;
  const BatchTensors made =
      tensors(batch, options_.view.axes, net.input(), nn::element_of(options_.precision));
  const auto scores = task_.scores(net.forward(made.images), made.labels);
  const auto numbers = sums.as<double>();
  for (std::size_t metric = 0; metric < scores.size(); ++metric) {
    for (const nn::Score& score : scores[metric]) {
      numbers[2 * metric] += score.numerator;
      numbers[2 * metric + 1] += score.denominator;
    }
  }
}

}  // namespace parajoule::train
