#pragma once

// Vector halving with distance doubling among some members of a group.

#include <span>
#include <vector>

#include "simulate/sum_cost.h"

namespace parajoule::simulate {

/// Among a power of two of members: rounds at the distances 1, 2, 4 ... with a half, a quarter ...
/// of the values. Back it takes as long.
class Halving {
 public:
  Halving(const Ways& ways, const std::vector<int>& players);
  double seconds(double bytes) const;
  comm::Communicator::Traffic sent(std::uint64_t bytes) const;

 private:
  int players_;
  std::vector<Round> rounds_;
};

/// A whole sum among any number of `players`.
class HalvingDoubling {
 public:
  HalvingDoubling(const Ways& ways, std::vector<int> players);
  /// Clocks of all members of the group, of which those of the players move.
  void finish(double bytes, std::span<double> clocks) const;
  double least(double bytes) const { return 2 * halving_.seconds(bytes); }
  comm::Communicator::Traffic sent(std::uint64_t bytes, int place) const;

 private:
  std::vector<int> unpaired() const;
  Round pairs(const Ways& ways) const;

  std::vector<int> players_;
  int paired_;  ///< pairs, of the first players
  Halving halving_;
  Round pairs_;
};

}  // namespace parajoule::simulate
