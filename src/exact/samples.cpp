#include "exact/samples.h"

#include <algorithm>
#include <concepts>
#include <utility>

#include "base/error.h"

namespace parajoule::exact {
namespace {

/// Of objectives that are a mean over rows.
template <class Objective>
concept Rows = requires(const Objective& objective) {
  { objective.inputs[0] } -> std::convertible_to<std::vector<Row>>;
};

/// Where a sample is: a rank that trains, and its row.
struct Place {
  std::size_t trainer;
  std::size_t row;
};

template <Rows Objective>
Place place_of(const Objective& objective, std::int64_t sample) {
  std::size_t row = std::size_t(sample), trainer = 0;
  while (row >= objective.inputs[trainer].size()) row -= objective.inputs[trainer++].size();
  return {trainer, row};
}

struct First {
  std::size_t trainer;
  std::int64_t operator()(const Quadratic&) const { return std::int64_t(trainer); }
  template <Rows Objective>
  std::int64_t operator()(const Objective& objective) const {
    std::size_t rows = 0;
    for (std::size_t r = 0; r < trainer; ++r) rows += objective.inputs[r].size();
    return std::int64_t(rows);
  }
  std::int64_t operator()(const Gradients&) const { return 0; }
  std::int64_t operator()(const None&) const { return 0; }
};

struct Chosen {
  std::span<const std::int64_t> samples;

  Problem::Objective operator()(const Quadratic& objective) const {
    base::ensure(samples.size() == 1, "a step of a quadratic problem has one sample");
    const auto sample = std::size_t(samples[0]);
    return Quadratic{{objective.curvature[sample]}, {objective.target[sample]}};
  }
  template <Rows Objective>
  Problem::Objective operator()(const Objective& objective) const {
    Objective chosen = objective;
    chosen.inputs.assign(1, {});
    chosen.outputs.assign(1, {});
    for (const std::int64_t sample : samples) {
      const Place at = place_of(objective, sample);
      chosen.inputs[0].push_back(objective.inputs[at.trainer][at.row]);
      chosen.outputs[0].push_back(objective.outputs[at.trainer][at.row]);
    }
    return chosen;
  }
  Problem::Objective operator()(const Gradients& objective) const { return objective; }
  Problem::Objective operator()(const None& objective) const { return objective; }
};

double squared(std::span<const double> found, std::span<const double> wanted) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    sum += (found[i] - wanted[i]) * (found[i] - wanted[i]);
  return sum;
}

/// W x of a matrix by rows.
Row product(std::span<const double> matrix, const Row& x) {
  Row y(matrix.size() / x.size());
  for (std::size_t out = 0; out < y.size(); ++out)
    for (std::size_t in = 0; in < x.size(); ++in) y[out] += matrix[out * x.size() + in] * x[in];
  return y;
}

struct Loss {
  std::int64_t sample;
  std::span<const double> weights;

  double operator()(const Quadratic& objective) const {
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double off = weights[k] - objective.target[std::size_t(sample)][k];
      sum += objective.curvature[std::size_t(sample)][k] / 2 * off * off;
    }
    return sum;
  }
  double operator()(const LeastSquares& objective) const {
    const auto [trainer, row] = place_of(objective, sample);
    const double found = product(weights, objective.inputs[trainer][row])[0];
    return squared(std::span(&found, 1), std::span(&objective.outputs[trainer][row], 1));
  }
  double operator()(const LinearNetwork& objective) const {
    const auto [trainer, row] = place_of(objective, sample);
    Row values = objective.inputs[trainer][row];
    std::size_t begin = 0;
    for (const LinearNetwork::Layer& layer : objective.layers) {
      const auto size = std::size_t(layer.outputs * layer.inputs);
      values = product(weights.subspan(begin, size), values);
      begin += size;
    }
    return squared(values, objective.outputs[trainer][row]);
  }
  double operator()(const Gradients&) const { return 0; }
  double operator()(const None&) const { return 0; }
};

}  // namespace

std::int64_t count_samples(const Problem& problem) {
  if (const auto* quadratic = std::get_if<Quadratic>(&problem.objective))
    return std::int64_t(quadratic->target.size());
  if (const auto* squares = std::get_if<LeastSquares>(&problem.objective))
    return first_sample(problem, int(squares->inputs.size()));
  if (const auto* network = std::get_if<LinearNetwork>(&problem.objective))
    return first_sample(problem, int(network->inputs.size()));
  return 0;
}

std::int64_t count_samples_of(const Problem& problem, int trainer) {
  return first_sample(problem, trainer + 1) - first_sample(problem, trainer);
}

std::int64_t first_sample(const Problem& problem, int trainer) {
  return std::visit(First{std::size_t(trainer)}, problem.objective);
}

Problem::Objective on_samples(const Problem& problem, std::span<const std::int64_t> samples) {
  return std::visit(Chosen{samples}, problem.objective);
}

double loss_of(const Problem& problem, std::int64_t sample, std::span<const double> weights) {
  return std::visit(Loss{sample, weights}, problem.objective);
}

}  // namespace parajoule::exact
