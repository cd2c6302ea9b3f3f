#pragma once

// What collectives over one group cost in virtual time.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "comm/topology.h"
#include "simulate/rounds.h"
#include "simulate/sum_cost.h"

namespace parajoule::simulate {

/// Sums, minima and maxima cost the formula of the chosen algorithm (sum_cost.h). With n members,
/// a the latency, B the bandwidth and M bytes the others cost
///   broadcast, reduce           ceil(log2 n) (a + M / B) down or up a tree, or in parts and then
///                               around a ring, whichever is quicker; all wait for all, as in the
///                               worlds that really run
///   reduce-scatter, all-gather  (n - 1) (a + P / B), P the bytes of the longest part
///   barrier                     ceil(log2 n) a
class Costs {
 public:
  /// All three outlive it.
  Costs(const comm::Topology& members, const Places& places, Sum sum);
  ~Costs();

  /// From when each member came to when each is through, in place.
  void finish(const comm::Collective& call, std::span<double> clocks) const;
  /// How long after it came a member is through at the earliest.
  double least(const comm::Collective& call) const;
  /// The part of its time in which nothing occupies the ways: what it would take without values.
  double latencies(const comm::Collective& call) const;
  comm::Communicator::Traffic sent(const comm::Collective& call, int member) const;

 private:
  using Kind = comm::Collective::Kind;

  Sum chosen(double bytes) const;
  const SumCost& algorithm(double bytes) const { return algorithm(chosen(bytes)); }
  const SumCost& algorithm(Sum sum) const;
  double parts_around(const comm::Collective& call) const;
  double from_root(double bytes) const;
  double barrier() const;

  Ways ways_;
  Sum sum_;
  int rounds_;  ///< ceil(log2 n)
  mutable std::array<std::unique_ptr<SumCost>, 6> algorithms_;
  mutable std::map<double, Sum> quickest_;  ///< by bytes
  mutable std::array<std::optional<double>, 6> empty_sums_;
  mutable std::unique_ptr<Round> shift_;  ///< to the next member
  const Round& shift() const;
};

}  // namespace parajoule::simulate
