#pragma once

// A binomial tree among some members of a group.

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/rounds.h"

namespace parajoule::simulate {

/// The first of `players` is the root. Clocks are those of all members of the group, of which those
/// of the players move. Exact, however early or late each came.
///
///   8 players     0 <- 1, 2, 4;  2 <- 3;  4 <- 5, 6;  6 <- 7
class Tree {
 public:
  Tree(const Ways& ways, std::vector<int> players);
  /// Each takes from those right below it one after the other, the one with the least below it
  /// first.
  void reduce(double bytes, std::span<double> clocks) const;
  /// Each sends to those below it one after the other, the one with the most below it first.
  void broadcast(double bytes, std::span<double> clocks) const;
  /// Players right below the one at `place`.
  const std::vector<int>& below(int place) const { return below_[std::size_t(place)]; }

 private:
  const Ways& ways_;
  std::vector<int> players_;
  std::vector<std::vector<int>> below_;
};

}  // namespace parajoule::simulate
