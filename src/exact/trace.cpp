#include "exact/trace.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "strategy/rounds.h"

namespace parajoule::exact {
namespace {

struct Parts {
  std::vector<strategy::Part> of;  ///< each rank
  int trainers = 0;
};

Parts parts(const Run& run, const comm::Nodes& nodes) {
  Parts parts;
  const int ranks = int(nodes.node.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& part = parts.of.emplace_back(run.method.part(rank, ranks, nodes, run.settings));
    if (part.trains) ++parts.trainers;
  }
  return parts;
}

/// One rank from its first step to its last.
class Tracing {
 public:
  Tracing(comm::Communicator& world, const Run& run, const Clock& clock)
      : world_(world, run.sum, run.sum_settings),
        run_(run),
        clock_(clock),
        parts_(parts(run, world.nodes())),
        rounds_(strategy::rounds_of(parts_.of)) {
    make();
  }

  std::vector<Line> take_part() {
    if (part().trains)
      train();
    else
      serve();
    if (run_.before_finish) run_.before_finish(*strategy_, *worker_);
    strategy_->finish(*worker_);
    write_down({});
    return std::move(lines_);
  }

 private:
  const strategy::Part& part() const { return parts_.of[std::size_t(world_.rank())]; }

  void make() {
    strategy_ = run_.method.make(world_, run_.settings);
    worker_ = std::make_unique<Worker>(
        world_, run_.problem, Role{.trainer = part().trains, .trainers = parts_.trainers},
        Worker::Options{.clock = clock_,
                        .optimizer = run_.optimizer,
                        .epochs = epochs(),
                        .served = [this](std::int64_t updates) { write_down(updates); }});
  }

  void train() {
    if (run_.resume_after) {
      train_until(*run_.resume_after);
      strategy_->leave(*worker_);
      make_anew();
    }
    train_until(run_.steps);
    strategy_->leave(*worker_);
  }

  /// The ranks with the largest share have then taken `steps`.
  void train_until(std::int64_t steps) {
    for (; step_ < rounds_.taken(world_.rank(), steps); ++step_) {
      worker_->begin_step(step_);
      strategy_->step(*worker_);
      write_down(step_ + 1);
    }
  }

  /// Until all ranks meet: to be made anew, and at the end.
  void serve() {
    strategy_->serve(*worker_);
    if (!run_.resume_after) return;
    make_anew();
    strategy_->serve(*worker_);
  }

  /// Nothing is left but what was saved.
  void make_anew() {
    base::Archive of_strategy, of_worker;
    strategy_->save(of_strategy);
    worker_->save(of_worker);
    strategy_.reset();
    make();
    worker_->load(of_worker);
    strategy_->load(of_strategy);
  }

  std::int64_t epochs() const {
    const auto steps = run_.problem.steps_per_epoch;
    return steps ? (run_.steps + *steps - 1) / *steps : 0;
  }

  void write_down(std::optional<std::int64_t> step) {
    lines_.push_back({.step = step,
                      .rank = world_.rank(),
                      .serves = !part().trains,
                      .weights = worker_->current_weights()});
  }

  comm::Summing world_;
  const Run& run_;
  const Clock& clock_;
  Parts parts_;
  strategy::Rounds rounds_;
  std::int64_t step_ = 0;  ///< of this rank
  std::unique_ptr<strategy::Strategy> strategy_;
  std::unique_ptr<Worker> worker_;
  std::vector<Line> lines_;
};

// On their way to rank 0 the lines of a rank are numbers end to end.

constexpr int tag = 1;
constexpr double finished = -1;

Row packed(const std::vector<Line>& lines) {
  Row numbers;
  for (const Line& line : lines) {
    numbers.push_back(line.step ? double(*line.step) : finished);
    numbers.push_back(line.serves);
    numbers.insert(numbers.end(), line.weights.begin(), line.weights.end());
  }
  return numbers;
}

void unpack(const Row& numbers, int rank, std::size_t parameters, std::vector<Line>& lines) {
  for (auto at = numbers.begin(); at != numbers.end();) {
    const double step = *at++;
    const bool serves = *at++ != 0;
    lines.push_back({.step = step == finished ? std::nullopt : std::optional(std::int64_t(step)),
                     .rank = rank,
                     .serves = serves,
                     .weights = Row(at, at + std::ptrdiff_t(parameters))});
    at += std::ptrdiff_t(parameters);
  }
}

}  // namespace

void check(const Run& run, const comm::Nodes& nodes) {
  const int ranks = int(nodes.node.size());
  const Parts all = parts(run, nodes);
  strategy::rounds_of(all.of);
  check_ranks(run.problem, all.trainers, ranks);
  if (run.method.check_optimizer)
    run.method.check_optimizer(run.optimizer ? std::nullopt : std::optional(run.problem.momentum));
  if (!run.problem.events.empty())
    throw base::Error(base::Fault::usage,
                      fmt::format("events: {} takes its steps on all ranks together, so there is "
                                  "no order to choose; take \"events\" out of the problem",
                                  run.method.name));
}

std::vector<Line> take_part(comm::Communicator& world, const Run& run, const Clock& clock) {
  return Tracing(world, run, clock).take_part();
}

std::vector<Line> gathered(comm::Communicator& world, const std::vector<Line>& own) {
  std::vector<int> everyone(std::size_t(world.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  // Apart from whatever the method has sent.
  const auto group = world.group(everyone);
  if (world.rank() != 0) {
    Row numbers = packed(own);
    group->send(base::Vector(std::span(numbers)), 0, tag);
    return {};
  }
  std::vector<Line> lines = own;
  const std::size_t parameters = own.front().weights.size();
  for (int rank = 1; rank < world.size(); ++rank) {
    Row numbers(group->await(rank, tag).bytes / sizeof(double));
    group->receive(base::Vector(std::span(numbers)), rank, tag);
    unpack(numbers, rank, parameters, lines);
  }
  const auto order = [](const Line& line) {
    return std::tuple(line.step.value_or(std::numeric_limits<std::int64_t>::max()), line.rank);
  };
  std::ranges::stable_sort(lines, {}, order);
  return lines;
}

std::string text_of(const Line& line) {
  std::string text = R"({"step": )" + (line.step ? fmt::format("{}", *line.step) : "null");
  text += fmt::format(R"(, "rank": {})", line.rank);
  if (line.serves) text += R"(, "serves": true)";
  if (!line.step) text += R"(, "finished": true)";
  text += R"(, "weights": [)";
  for (std::size_t k = 0; k < line.weights.size(); ++k)
    text += fmt::format("{}{:.17g}", k == 0 ? "" : ", ", line.weights[k]);
  return text + "]}\n";
}

}  // namespace parajoule::exact
