#include "exact/problem.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::exact {
namespace {

Problem at_zero(Problem::Objective objective, std::size_t count) {
  Problem problem;
  problem.objective = std::move(objective);
  problem.start = {Row(count)};
  return problem;
}

std::size_t width(const std::vector<std::vector<Row>>& rows) {
  for (const auto& of_rank : rows)
    if (!of_rank.empty()) return of_rank.front().size();
  return 0;
}

std::vector<std::vector<std::int64_t>> shapes_of(const Problem& problem) {
  const auto* network = std::get_if<LinearNetwork>(&problem.objective);
  if (!network) {
    if (problem.shapes.empty()) return {{std::int64_t(parameters(problem))}};
    return problem.shapes;
  }
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& layer : network->layers) shapes.push_back({layer.outputs, layer.inputs});
  return shapes;
}

/// For how many ranks a list is meant; none if one entry serves all.
std::optional<std::size_t> ranks_in(const auto& list) {
  if (list.size() <= 1) return {};
  return list.size();
}

struct RanksOf {
  std::size_t operator()(const Quadratic& q) const { return q.curvature.size(); }
  std::size_t operator()(const LeastSquares& s) const { return s.inputs.size(); }
  std::size_t operator()(const Gradients& g) const { return g.gradients.front().size(); }
  std::size_t operator()(const LinearNetwork& n) const { return n.inputs.size(); }
  std::size_t operator()(const None&) const { return 0; }
};

struct KeyOf {
  std::string_view operator()(const Quadratic&) const { return "curvature"; }
  std::string_view operator()(const LeastSquares&) const { return "inputs"; }
  std::string_view operator()(const Gradients&) const { return "gradients"; }
  std::string_view operator()(const LinearNetwork&) const { return "inputs"; }
  std::string_view operator()(const None&) const { return "none"; }
};

void need(std::string_view key, std::optional<std::size_t> has, int trainers) {
  if (!has || *has == std::size_t(trainers)) return;
  throw base::Error(base::Fault::input,
                    fmt::format("{}: for {} ranks, but {} train; give each of them its own, or "
                                "choose another --ranks",
                                key, *has, trainers));
}

}  // namespace

Problem Problem::quadratic(std::vector<Row> curvature, std::vector<Row> target) {
  const std::size_t count = curvature.front().size();
  return at_zero(Quadratic{std::move(curvature), std::move(target)}, count);
}

Problem Problem::least_squares(std::vector<std::vector<Row>> inputs, std::vector<Row> outputs) {
  const std::size_t count = width(inputs);
  return at_zero(LeastSquares{std::move(inputs), std::move(outputs)}, count);
}

Problem Problem::given_gradients(std::vector<std::vector<Row>> gradients) {
  const std::size_t count = gradients.front().front().size();
  return at_zero(Gradients{std::move(gradients)}, count);
}

Problem Problem::linear_network(LinearNetwork network) {
  Row identities;
  for (const auto& layer : network.layers)
    for (std::int64_t out = 0; out < layer.outputs; ++out)
      for (std::int64_t in = 0; in < layer.inputs; ++in) identities.push_back(out == in);
  Problem problem = at_zero(std::move(network), 0);
  problem.start = {identities};
  return problem;
}

std::size_t parameters(const Problem& problem) { return problem.start.front().size(); }

schedule::Layout layout_of(const Problem& problem) {
  const auto shapes = shapes_of(problem);
  schedule::Layout layout;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& shape = shapes[i];
    const auto count = std::size_t(
        std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies()));
    const bool bias = shape.size() < 2 && shapes.size() > 1;
    layout.parameters.push_back({.name = fmt::format("layer{}", i),
                                 .shape = shape,
                                 .range = {begin, begin + count},
                                 .kind = bias ? schedule::Kind::bias : schedule::Kind::matrix,
                                 .backward = int(shapes.size() - 1 - i)});
    begin += count;
  }
  if (!problem.buffers.empty()) {
    const std::size_t count = problem.buffers.front().size();
    layout.buffers.push_back(
        {.name = "statistics", .shape = {std::int64_t(count)}, .range = {0, count}});
  }
  return layout;
}

std::optional<int> trainers_in(const Problem& problem) {
  const std::size_t rows = std::visit(RanksOf(), problem.objective);
  if (rows > 0) return int(rows);
  if (problem.start.size() > 1) return int(problem.start.size());
  return {};
}

void check_ranks(const Problem& problem, int trainers, int ranks) {
  const std::size_t own = std::visit(RanksOf(), problem.objective);
  if (own > 0) need(std::visit(KeyOf(), problem.objective), own, trainers);
  need("start", ranks_in(problem.start), trainers);
  need("durations", ranks_in(problem.durations), trainers);
  need("samples", ranks_in(problem.samples), trainers);
  need("buffers", ranks_in(problem.buffers), trainers);
  for (const auto& event : problem.events)
    for (const int rank : event)
      if (rank >= ranks)
        throw base::Error(
            base::Fault::input,
            fmt::format("events: no rank {}; the last of {} is {}", rank, ranks, ranks - 1));
}

std::int64_t samples_of(const Problem& problem, int trainer, std::int64_t step) {
  if (!problem.samples.empty()) return entry(of_rank(problem.samples, trainer), step);
  if (const auto* squares = std::get_if<LeastSquares>(&problem.objective))
    return std::int64_t(squares->outputs[std::size_t(trainer)].size());
  if (const auto* network = std::get_if<LinearNetwork>(&problem.objective))
    return std::int64_t(network->outputs[std::size_t(trainer)].size());
  return 1;
}

base::Seconds duration_of(const Problem& problem, int trainer, std::int64_t step) {
  if (problem.durations.empty()) return base::Seconds(0);
  return base::Seconds(entry(of_rank(problem.durations, trainer), step));
}

}  // namespace parajoule::exact
