#pragma once

// When the sums of gradients end that run while the backward pass goes on, and which of them to
// merge: plain arithmetic on times.

#include <cstddef>
#include <span>
#include <vector>

#include "base/quantity.h"

namespace parajoule::schedule {

/// A sum of s bytes over all ranks takes a + b s.
struct SumCost {
  base::Seconds start{0};     ///< a
  base::Seconds per_byte{0};  ///< b
  base::Seconds of(double bytes) const { return start + per_byte * bytes; }
};

/// The line of least squares through sums that were timed, neither number below zero; where all are
/// of one size, a = 0. Both spans have one entry a sum.
SumCost fitted(std::span<const double> bytes, std::span<const base::Seconds> times);

/// The gradients of one layer (a parameter, or several that become ready together).
struct Gradient {
  base::Seconds ready;  ///< since any moment that is the same for all
  double bytes;
};

/// Sums of one layer each or of merged neighbours, one after the other on one channel, each from
/// when its last layer is ready:
///
///   start_g <- max(end_{g-1}, ready of the last layer of g)      end_g <- start_g + a + b bytes_g
///
/// `gradients` in the order in which the backward pass finishes them, `merged` how many neighbours
/// each sum takes, in that order; they add up to all. The end of the last sum, on the clock of
/// `ready`. Wait-free backward propagation merges none: H. Zhang et al., "Poseidon", USENIX ATC
/// 2017, arXiv:1706.03292; as a recurrence in S. Shi et al., "A DAG Model of Synchronous Stochastic
/// Gradient Descent in Distributed Deep Learning", ICPADS 2018, arXiv:1805.03812.
base::Seconds end_of_sums(std::span<const Gradient> gradients, std::span<const std::size_t> merged,
                          SumCost cost);

/// MG-WFBP: which neighbours to merge. S. Shi, X. Chu, B. Li, "MG-WFBP: Efficient Data
/// Communication for Distributed Synchronous SGD Algorithms", INFOCOM 2019, arXiv:1811.11141; the
/// rule as their code has it. Walking on from the last layer, what is not sent yet takes the next
/// layer in if that becomes ready before its own sum would end, and either before the channel is
/// free for it, or so soon that waiting costs less than the start of another sum. Greedy, not
/// optimal.
std::vector<std::size_t> merged_sums(std::span<const Gradient> gradients, SumCost cost);

/// What one iteration takes on one rank, by its parts; layers in the order of the backward pass.
struct Iteration {
  base::Seconds input{0};  ///< reading a batch
  base::Seconds copy{0};   ///< of it to the device
  base::Seconds forward{0};
  std::vector<base::Seconds> backward = {};  ///< of each layer
  std::vector<base::Seconds> sum = {};       ///< of the gradients of each layer
  base::Seconds update{0};
};

/// Closed forms of the time from one iteration to the next (the same paper): everything in turn;
/// with the next batch read meanwhile; with that and each layer's sum begun as soon as its
/// gradients are there.
base::Seconds in_turn(const Iteration& iteration);
base::Seconds reading_ahead(const Iteration& iteration);
base::Seconds wait_free(const Iteration& iteration);

}  // namespace parajoule::schedule
