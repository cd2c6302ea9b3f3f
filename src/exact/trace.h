#pragma once

// A method on a problem: every step of every rank, written down.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.h"
#include "comm/communicator.h"
#include "comm/sums.h"
#include "exact/clock.h"
#include "exact/problem.h"
#include "exact/worker.h"
#include "strategy/catalog.h"

namespace parajoule::exact {

/// The weights of a rank after one of its steps: those that the method would evaluate there.
struct Line {
  std::optional<std::int64_t> step;  ///< from 1; none: after `finish`
  int rank;
  bool serves;  ///< then a step is an update that it was sent
  Row weights;
};

/// What all ranks do together. What it refers to outlives it.
struct Run {
  const Problem& problem;
  const strategy::Method& method;
  const base::Settings& settings;
  /// Of the ranks with the largest share of the samples; others take theirs (strategy/rounds.h).
  std::int64_t steps;
  const comm::Sum& sum = comm::sum("auto");  ///< how values of all ranks are added up
  base::Settings sum_settings = {};
  MakeOptimizer optimizer = {};  ///< for tests; none: SGD with the problem's momentum
  /// For tests: after so many of those, fewer than all, every rank saves, and goes on with a
  /// method and a worker made anew.
  std::optional<std::int64_t> resume_after = {};
  /// For tests: called by each rank before `finish`.
  std::function<void(strategy::Strategy&, Worker&)> before_finish = {};
};

/// Throws what speaks against the run, before anything starts: Error{usage} of the method, and
/// Error{input} where the problem does not fit.
void check(const Run& run, const comm::Nodes& nodes);

/// This rank's part from its first step to `finish`: its lines in order. All ranks call it.
std::vector<Line> take_part(comm::Communicator& world, const Run& run, const Clock& clock);

/// The lines of all ranks, by step and rank and the finished ones last, on rank 0; none elsewhere.
/// All ranks call it.
std::vector<Line> gathered(comm::Communicator& world, const std::vector<Line>& own);

/// As JSON: a line of the trace, with its newline (docs/trace.md).
std::string text_of(const Line& line);

}  // namespace parajoule::exact
