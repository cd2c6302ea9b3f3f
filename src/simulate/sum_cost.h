#pragma once

// What a sum over a group costs in virtual time, by the formula of each algorithm of comm/sums.h:
// n members, a message of b bytes takes a + b / B, the values have M bytes. Parts of the values
// count as even.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "simulate/rounds.h"

namespace parajoule::simulate {

class SumCost {
 public:
  virtual ~SumCost() = default;
  /// From when each member came to when each is through, in place. Exact where no port is shared
  /// and all links are alike.
  virtual void finish(double bytes, std::span<double> clocks) const = 0;
  /// How long after a member came it is through at the earliest, however early the others came.
  virtual double least(double bytes) const = 0;
  /// What a member sends.
  virtual comm::Communicator::Traffic sent(std::uint64_t bytes, int member) const = 0;

  /// All come at once: until the last is through.
  double seconds(double bytes, int members) const;
};

/// 2 (n - 1) (a + M / n / B). Parts travel around a ring: P. Patarasuk, X. Yuan, "Bandwidth optimal
/// all-reduce algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009).
std::unique_ptr<SumCost> ring_cost(const Ways& ways);

/// 2 log2(n) a + 2 (n - 1) / n M / B: halves of the vector over doubled distances and back; R.
/// Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
/// MPICH", Int. J. High Perform. Comput. Appl. 19 (2005). Beyond a power of two, pairs join before
/// (2 a + M / B) and take the sum after (a + M / B).
std::unique_ptr<SumCost> halving_doubling_cost(const Ways& ways);

/// One block for each binary digit of n halves and doubles; the smaller hand what they have to the
/// next larger and take it back: R. Rabenseifner, "Optimization of collective reduction
/// operations", ICCS 2004.
std::unique_ptr<SumCost> binary_blocks_cost(const Ways& ways);

/// To the first member along a binomial tree and back: 2 log2(n) (a + M / B) for a power of two.
std::unique_ptr<SumCost> tree_cost(const Ways& ways);

/// A tree to the first member of each node, halving and doubling among these, and a tree back.
std::unique_ptr<SumCost> hierarchical_cost(const Ways& ways);

}  // namespace parajoule::simulate
