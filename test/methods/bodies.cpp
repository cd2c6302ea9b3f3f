#include "bodies.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "exact/trace.h"

namespace parajoule::methods {
namespace {

/// What a rank has to tell beside its lines, in the form of lines.
struct Told {
  std::vector<exact::Line> lines;
  std::vector<exact::Line> evaluated;
  std::vector<exact::Line> traffic;
};

exact::Line line_of(int rank, Row numbers) { return {{}, rank, false, std::move(numbers)}; }

Row loaded(base::Vector vector) {
  const auto numbers = vector.as<double>();
  return {numbers.begin(), numbers.end()};
}

/// Runs one rank; rank 0 comes to know everything.
Told take_part(const Case& wanted, comm::Communicator& world, const exact::Clock& clock) {
  const strategy::Method& method = strategy::method(wanted.method);
  const base::Settings settings(method.name, method.options, wanted.settings);
  Told own;
  exact::Run run{.problem = wanted.problem,
                 .method = method,
                 .settings = settings,
                 .steps = wanted.steps,
                 .optimizer = wanted.optimizer,
                 .resume_after = wanted.resume_after};
  if (wanted.evaluate)
    run.before_finish = [&](strategy::Strategy& strategy, exact::Worker& worker) {
      const base::Vector weights = worker.spare();
      const base::Vector buffers =
          world.allocate(base::Element::float64, worker.layout().buffer_count());
      strategy.evaluation_weights(worker, weights, buffers);
      own.evaluated.push_back(line_of(world.rank(), loaded(weights)));
    };
  exact::check(run, world.nodes());
  own.lines = exact::take_part(world, run, clock);
  const auto traffic = world.traffic();
  own.traffic = {line_of(world.rank(), {double(traffic.bytes), double(traffic.messages)})};
  return {.lines = exact::gathered(world, own.lines),
          .evaluated =
              wanted.evaluate ? exact::gathered(world, own.evaluated) : std::vector<exact::Line>(),
          .traffic = exact::gathered(world, own.traffic)};
}

std::vector<Row> rows_of(const std::vector<exact::Line>& lines, int ranks) {
  std::vector<Row> rows(static_cast<std::size_t>(ranks));
  for (const auto& line : lines) rows[std::size_t(line.rank)] = line.weights;
  return rows;
}

Outcome outcome_of(const Told& told, const Case& wanted) {
  Outcome outcome;
  std::vector<exact::Line> finished;
  for (const auto& line : told.lines) {
    if (!line.step) {
      finished.push_back(line);
      continue;
    }
    const auto steps = std::size_t(*line.step);
    if (outcome.weights.size() < steps)
      outcome.weights.resize(steps, std::vector<Row>(std::size_t(wanted.ranks)));
    outcome.weights[steps - 1][std::size_t(line.rank)] = line.weights;
  }
  outcome.finished = rows_of(finished, wanted.ranks);
  if (wanted.evaluate) outcome.evaluated = rows_of(told.evaluated, wanted.ranks);
  for (const Row& row : rows_of(told.traffic, wanted.ranks))
    outcome.traffic.push_back({std::uint64_t(row[0]), std::uint64_t(row[1])});
  return outcome;
}

}  // namespace

/// Traffic is not compared: worlds move the same numbers in different ways.
bool Outcome::operator==(const Outcome& other) const {
  return weights == other.weights && finished == other.finished && evaluated == other.evaluated;
}

Outcome run(const Case& wanted, const World& world) {
  Outcome outcome;
  world.run(wanted, [&](comm::Communicator& group, const exact::Clock& clock) {
    const Told told = take_part(wanted, group, clock);
    if (group.rank() == 0) outcome = outcome_of(told, wanted);
  });
  return outcome;
}

Outcome run(const Case& wanted) {
  const Outcome first = run(wanted, worlds().front());
  for (const World& world : worlds().subspan(1))
    EXPECT_TRUE(run(wanted, world) == first)
        << wanted.method << ": " << world.name << " differs from " << worlds().front().name;
  return first;
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
