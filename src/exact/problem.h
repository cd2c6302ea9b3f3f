#pragma once

// A tiny problem whose every step can be computed by hand: what `parajoule trace` and the tests of
// methods train on (docs/trace.md). A row has a number for each parameter.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "schedule/layout.h"

namespace parajoule::exact {

using Row = std::vector<double>;

/// f_r(w) = 1/2 sum_k a_rk (w_k - b_rk)^2 with the gradient a_r (w - b_r); one sample a step.
struct Quadratic {
  std::vector<Row> curvature;  ///< a, of each rank that trains
  std::vector<Row> target;     ///< b
};

/// The mean over the rows of a rank of (w . x - y)^2; a step takes all of them.
struct LeastSquares {
  std::vector<std::vector<Row>> inputs;  ///< x, [rank][row]
  std::vector<Row> outputs;              ///< y, [rank][row]
};

/// Gradients as they are given, whatever the weights are.
struct Gradients {
  std::vector<std::vector<Row>> gradients;  ///< [step][rank]; the last step repeats
};

/// f(x) = W_L ... W_1 x with a loss of |f(x) - y|^2, the mean over the rows of a rank. The weights
/// are W_1 ... W_L, each by rows.
struct LinearNetwork {
  struct Layer {
    std::int64_t outputs;
    std::int64_t inputs;
  };
  std::vector<Layer> layers;
  std::vector<std::vector<Row>> inputs;   ///< x, [rank][row]
  std::vector<std::vector<Row>> outputs;  ///< y, [rank][row]
};

/// Every gradient is zero: what is left is what a method itself does to the weights.
struct None {};

struct Problem {
  using Objective = std::variant<Quadratic, LeastSquares, Gradients, LinearNetwork, None>;
  struct Link {
    base::Seconds latency{0};
    std::optional<double> bytes_per_second;  ///< none: a transfer takes the latency alone
  };

  Objective objective = None();
  std::vector<Row> start;  ///< one row, or one a rank that trains
  /// Of the layers in their order, end to end; none: one layer. A linear network brings its own.
  std::vector<std::vector<std::int64_t>> shapes = {};
  std::vector<double> learning_rate{0.1};  ///< of each step; the last repeats
  double momentum = 0;
  std::optional<std::int64_t> steps_per_epoch = {};  ///< none: one epoch without end
  std::vector<double> loss = {};                     ///< of each epoch; the last repeats
  /// Seconds that a pass takes, for all ranks or for each that trains, of each step; the last
  /// repeats.
  std::vector<std::vector<double>> durations = {};
  Link link = {};
  std::vector<std::vector<int>> events = {};
  /// For tests: samples of a step, for all ranks or for each that trains, of each step; the last
  /// repeats. None: what the objective says.
  std::vector<std::vector<std::int64_t>> samples = {};
  /// For tests: running statistics at the start, one row, or one a rank that trains.
  std::vector<Row> buffers = {};

  /// Starts at zero; everything else is set afterwards.
  static Problem quadratic(std::vector<Row> curvature, std::vector<Row> target);
  static Problem least_squares(std::vector<std::vector<Row>> inputs, std::vector<Row> outputs);
  static Problem given_gradients(std::vector<std::vector<Row>> gradients);
  /// Starts at identities.
  static Problem linear_network(LinearNetwork network);
};

/// Throws Error{input} in one line that names the file, the key, and the way out.
Problem read_problem(const std::filesystem::path& file);
/// The same for text; `name` is what errors call it.
Problem problem_in(std::string_view text, std::string_view name);

/// A problem file with a comment for each key.
std::string_view example_problem();

std::size_t parameters(const Problem& problem);
schedule::Layout layout_of(const Problem& problem);

/// How many ranks it has rows for; none if any number may train on it.
std::optional<int> trainers_in(const Problem& problem);

/// Throws Error{input} unless the problem has a row for each of the ranks that train and its events
/// name ranks that there are.
void check_ranks(const Problem& problem, int trainers, int ranks);

/// Of a rank that trains, in its step, from 0.
std::int64_t samples_of(const Problem& problem, int trainer, std::int64_t step);
base::Seconds duration_of(const Problem& problem, int trainer, std::int64_t step);

/// The entry for `step` of a list whose last entry repeats.
template <class T>
const T& entry(const std::vector<T>& list, std::int64_t step) {
  return list[std::size_t(step) < list.size() ? std::size_t(step) : list.size() - 1];
}

/// The entry of a rank in a list that has one for all of them or one for each.
template <class T>
const T& of_rank(const std::vector<T>& list, int trainer) {
  return list.size() == 1 ? list.front() : list[std::size_t(trainer)];
}

}  // namespace parajoule::exact
