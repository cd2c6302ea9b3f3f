#pragma once

// `parajoule trace`, whichever of the two programs runs the ranks.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.h"
#include "comm/communicator.h"
#include "exact/clock.h"
#include "exact/problem.h"
#include "exact/trace.h"

namespace parajoule::cli {

/// What the command line says.
struct TraceWords {
  std::string file = {};
  std::string strategy = {};
  std::vector<std::string> set = {};  ///< `key=value` or `table.key=value`
  std::int64_t steps = 10;
  std::optional<int> ranks = {};  ///< none: as many as the problem has rows for
};

constexpr int most_ranks = 4096;

/// A trace with nothing unset.
class Tracing {
 public:
  /// Throws Error{usage} or Error{input}, in one line, if it cannot be started.
  explicit Tracing(const TraceWords& words);

  int ranks() const { return ranks_; }
  /// Pretended; none: all are on one node.
  std::optional<int> ranks_per_node() const { return ranks_per_node_; }
  const exact::Problem& problem() const { return problem_; }

  /// Of each rank: its part; rank 0 is given the lines of all, the others none.
  std::vector<exact::Line> take_part(comm::Communicator& world, const exact::Clock& clock) const;

 private:
  exact::Run run() const;

  exact::Problem problem_;
  const strategy::Method& method_;
  const comm::Sum* sum_;
  base::Settings settings_, sum_settings_;
  std::int64_t steps_;
  int ranks_;
  std::optional<int> ranks_per_node_;
};

/// On standard output. Throws Error{not_a_number} at the first line that has no numbers.
void print(const std::vector<exact::Line>& lines);

}  // namespace parajoule::cli
