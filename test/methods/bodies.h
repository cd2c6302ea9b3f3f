#pragma once

// What the tests of methods share: running a method by its name on an exact problem, in every world
// that the test program has.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "comm/communicator.h"
#include "exact/clock.h"
#include "exact/problem.h"
#include "exact/worker.h"

namespace parajoule::methods {

using exact::Problem;
using exact::Row;

/// As `--set` gives them: {{"period", std::int64_t(4)}}.
using Given = std::map<std::string, base::Value>;

struct Case {
  std::string_view method;
  Given settings = {};
  Problem problem = {};
  int ranks = 1;
  std::int64_t steps = 1;  ///< of the ranks with the largest share
  std::string_view sum = "auto";
  exact::MakeOptimizer optimizer = {};
  /// After so many steps, fewer than all, everything is saved, made anew, and loaded.
  std::optional<std::int64_t> resume_after = {};
  /// Pretends that a node holds only so many ranks.
  std::optional<int> ranks_per_node = {};
  /// Asks for the weights to evaluate after the last step.
  bool evaluate = false;
};

struct Outcome {
  /// weights[step - 1][rank]: after each step of each rank.
  std::vector<std::vector<Row>> weights;
  std::vector<Row> finished;   ///< of each rank, after `finish`
  std::vector<Row> evaluated;  ///< of each rank, if that was asked for
  /// Of each rank, over the steps and `finish`.
  std::vector<comm::Communicator::Traffic> traffic;

  const Row& after(std::int64_t step, int rank) const { return weights[step - 1][rank]; }
  bool operator==(const Outcome& other) const;
};

/// Ranks that can run something together.
struct World {
  using Body = std::function<void(comm::Communicator&, const exact::Clock&)>;
  std::string_view name;
  /// Runs `body` on each rank of the case.
  void (*run)(const Case&, const Body& body);
  /// Gives what rank 0 found to every process of the program.
  Row (*share)(Row found);
};

/// Of a program that is one process.
inline Row as_it_is(Row found) { return found; }

/// Those of this program: tests go through all of them.
std::span<const World> worlds();

/// Runs the case. Equal on all ranks, where ranks are processes.
Outcome run(const Case& wanted, const World& world);

/// Runs the case in every world, which must agree to the last bit. Throws what the first one
/// throws.
Outcome run(const Case& wanted);

/// Why the case cannot be started; empty if it can.
std::string refusal(const Case& wanted);

/// Of the case: node after node has its ranks.
comm::Nodes nodes_of(const Case& wanted);

/// A quadratic problem with different numbers for each rank and parameter.
Problem varied(int ranks, std::size_t parameters);

/// Four ranks and one parameter: a = 1, 2, 3, 4 and b = 1, -1, 2, 0.5, from 0 with a rate of 0.1.
Problem toy4();

/// Each rank has the sample x = (1, 1, 1), y = 2, from (1, 1, 1) with a rate of 0.01.
Problem toy1(int ranks);

/// The gradient of a rank of a quadratic problem, from its definition.
Row quadratic_gradient(const Problem& problem, int rank, const Row& weights);

/// For the numbers of ranks that every method is tried with.
constexpr int rank_counts[] = {1, 2, 3, 4, 5, 8};

/// Expects every number within `tolerance` of the wanted one.
void expect_near(const Row& found, const Row& wanted, double tolerance, std::string_view what);

}  // namespace parajoule::methods
