#include "bodies.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "exact/trace.h"

namespace parajoule::methods {
namespace {

/// Everything that a run of the case refers to.
struct Setting {
  explicit Setting(const Case& wanted)
      : method(strategy::method(wanted.method)),
        settings(method.name, method.options, wanted.settings),
        sum(comm::sum(wanted.sum)),
        run{.problem = wanted.problem,
            .method = method,
            .settings = settings,
            .steps = wanted.steps,
            .sum = sum,
            .sum_settings = base::Settings(sum.name, sum.options, {}),
            .optimizer = wanted.optimizer,
            .resume_after = wanted.resume_after} {}

  const strategy::Method& method;
  base::Settings settings;
  const comm::Sum& sum;
  exact::Run run;
};

Row loaded(base::Vector vector) {
  const auto numbers = vector.as<double>();
  return {numbers.begin(), numbers.end()};
}

// On their way from rank to rank outcomes are rows, each as its length and its numbers: those of
// the steps first, then one finished, evaluated (maybe empty) and of traffic for each rank.

void append(Row& numbers, const Row& row) {
  numbers.push_back(double(row.size()));
  numbers.insert(numbers.end(), row.begin(), row.end());
}

Row take(const Row& numbers, std::size_t& at) {
  const auto begin = numbers.begin() + std::ptrdiff_t(at) + 1;
  const auto length = std::ptrdiff_t(numbers[at]);
  at += std::size_t(length) + 1;
  return {begin, begin + length};
}

Row written(const Outcome& outcome) {
  Row numbers{double(outcome.weights.size())};
  for (const auto& step : outcome.weights)
    for (const Row& row : step) append(numbers, row);
  for (std::size_t rank = 0; rank < outcome.finished.size(); ++rank) {
    append(numbers, outcome.finished[rank]);
    append(numbers, outcome.evaluated[rank]);
    const auto& traffic = outcome.traffic[rank];
    append(numbers, {double(traffic.bytes), double(traffic.messages)});
  }
  return numbers;
}

Outcome read(const Row& numbers, int ranks) {
  Outcome outcome;
  outcome.weights.resize(std::size_t(numbers[0]));
  std::size_t at = 1;
  for (auto& step : outcome.weights)
    for (int rank = 0; rank < ranks; ++rank) step.push_back(take(numbers, at));
  for (int rank = 0; rank < ranks; ++rank) {
    outcome.finished.push_back(take(numbers, at));
    outcome.evaluated.push_back(take(numbers, at));
    const Row traffic = take(numbers, at);
    outcome.traffic.push_back({std::uint64_t(traffic[0]), std::uint64_t(traffic[1])});
  }
  return outcome;
}

/// A row of each rank, on rank 0.
std::vector<Row> rows_of_all(comm::Communicator& world, Row own) {
  std::vector<Row> rows(std::size_t(world.size()));
  for (auto& line : exact::gathered(world, {{{}, world.rank(), false, std::move(own)}}))
    rows[std::size_t(line.rank)] = std::move(line.weights);
  return rows;
}

/// Runs one rank; rank 0 comes to know everything.
Outcome take_part(const Case& wanted, comm::Communicator& world, const exact::Clock& clock) {
  Setting setting(wanted);
  Row evaluated;
  if (wanted.evaluate)
    setting.run.before_finish = [&](strategy::Strategy& strategy, exact::Worker& worker) {
      const base::Vector weights = worker.spare();
      const base::Vector buffers =
          world.allocate(base::Element::float64, worker.layout().buffer_count());
      strategy.evaluation_weights(worker, weights, buffers);
      evaluated = loaded(weights);
    };
  exact::check(setting.run, world.nodes());
  const auto before = world.traffic();  // of a process: of all that it has run
  const auto own = exact::take_part(world, setting.run, clock);
  const auto since = world.traffic();

  Outcome outcome;
  outcome.finished.resize(std::size_t(wanted.ranks));
  for (const auto& line : exact::gathered(world, own)) {
    if (!line.step) {
      outcome.finished[std::size_t(line.rank)] = line.weights;
      continue;
    }
    const auto steps = std::size_t(*line.step);
    if (outcome.weights.size() < steps)
      outcome.weights.resize(steps, std::vector<Row>(std::size_t(wanted.ranks)));
    outcome.weights[steps - 1][std::size_t(line.rank)] = line.weights;
  }
  outcome.evaluated = rows_of_all(world, evaluated);
  const Row sent{double(since.bytes - before.bytes), double(since.messages - before.messages)};
  for (const Row& row : rows_of_all(world, sent))
    if (!row.empty()) outcome.traffic.push_back({std::uint64_t(row[0]), std::uint64_t(row[1])});
  return outcome;
}

}  // namespace

/// Traffic is not compared: worlds move the same numbers in different ways.
bool Outcome::operator==(const Outcome& other) const {
  return weights == other.weights && finished == other.finished && evaluated == other.evaluated;
}

Outcome run(const Case& wanted, const World& world) {
  Row found;
  world.run(wanted, [&](comm::Communicator& group, const exact::Clock& clock) {
    const Outcome outcome = take_part(wanted, group, clock);
    if (group.rank() == 0) found = written(outcome);
  });
  return read(world.share(std::move(found)), wanted.ranks);
}

Outcome run(const Case& wanted) {
  const Outcome first = run(wanted, worlds().front());
  for (const World& world : worlds().subspan(1))
    EXPECT_TRUE(run(wanted, world) == first)
        << wanted.method << ": " << world.name << " differs from " << worlds().front().name;
  return first;
}

std::string refusal(const Case& wanted) {
  try {
    exact::check(Setting(wanted).run, nodes_of(wanted));
    return {};
  } catch (const base::Error& error) {
    return error.what();
  }
}

comm::Nodes nodes_of(const Case& wanted) {
  comm::Nodes nodes;
  for (int rank = 0; rank < wanted.ranks; ++rank)
    nodes.node.push_back(rank / wanted.ranks_per_node.value_or(wanted.ranks));
  return nodes;
}

Problem varied(int ranks, std::size_t parameters) {
  std::vector<Row> curvature, target;
  for (std::size_t r = 0; r < std::size_t(ranks); ++r) {
    Row& a = curvature.emplace_back();
    Row& b = target.emplace_back();
    for (std::size_t k = 0; k < parameters; ++k) {
      a.push_back(0.5 + double((7 * r + 3 * k) % 11) / 10);
      b.push_back(double((5 * r + 2 * k) % 13) / 4 - 1);
    }
  }
  return Problem::quadratic(curvature, target);
}

Problem toy4() { return Problem::quadratic({{1}, {2}, {3}, {4}}, {{1}, {-1}, {2}, {0.5}}); }

Problem toy1(int ranks) {
  const std::vector<Row> inputs{{1, 1, 1}};
  Problem problem = Problem::least_squares({std::size_t(ranks), inputs}, {std::size_t(ranks), {2}});
  problem.start = {{1, 1, 1}};
  problem.learning_rate = {0.01};
  return problem;
}

Row quadratic_gradient(const Problem& problem, int rank, const Row& weights) {
  const auto& quadratic = std::get<exact::Quadratic>(problem.objective);
  Row gradient;
  for (std::size_t k = 0; k < weights.size(); ++k)
    gradient.push_back(quadratic.curvature[rank][k] * (weights[k] - quadratic.target[rank][k]));
  return gradient;
}

void expect_near(const Row& found, const Row& wanted, double tolerance, std::string_view what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t k = 0; k < found.size(); ++k)
    ASSERT_NEAR(found[k], wanted[k], tolerance) << what << ", parameter " << k;
}

}  // namespace parajoule::methods
