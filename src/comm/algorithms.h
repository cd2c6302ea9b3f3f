#pragma once

// All-reduce algorithms: one a file, over send and receive.
//
// Each leaves on every rank of the circle the sum of all ranks' values, the same bits everywhere:
// each element is added up along one way, and what comes of it is passed on unchanged. Letters: p
// ranks, n bytes of the values; the numbers of messages and bytes are those that leave a rank.

#include "comm/codec.h"
#include "comm/course.h"
#include "comm/summands.h"

namespace parajoule::comm {

using Algorithm = Course (*)(Summands& sum, Circle circle);

/// A ring. Every rank: 2 (p - 1) messages, 2 n (p - 1) / p bytes.
Course ring(Summands& sum, Circle circle);

/// The same with every chunk encoded for each hop; the owner of a finished chunk encodes it once,
/// takes for itself what that decodes to, and the others pass these bytes on. With one rank the
/// values become what encoding leaves of them.
Course coded_ring(Summands& sum, Circle circle, const Codec& codec);

/// Recursive halving of the vector with doubling of the distance, and back. With p = 2^k + r: in
/// each of r pairs the second rank hands its values to the first and gets the sum at the end. A
/// rank without such a partner: 2 k messages, 2 n (2^k - 1) / 2^k bytes; the first of a pair 2
/// messages and 1.5 n more; the second 2 messages, n bytes.
Course halving_doubling(Summands& sum, Circle circle);

/// Halving and doubling in blocks of 2^k ranks, one for each binary digit of p. A rank of a block
/// of b: 2 log2(b) messages and 2 n (b - 1) / b bytes; and n / b in one message for each message
/// from a smaller block, n / b in b' / b messages to a larger block of b'.
Course binary_blocks(Summands& sum, Circle circle);

/// Up a binomial tree to the first rank and down again: p - 1 messages of n bytes each way; 2
/// ceil(log2 p) one after the other.
Course tree(Summands& sum, Circle circle);

/// The two halves of `tree`.
Course reduce_to_first(Summands& sum, Circle circle);
Course broadcast_from_first(Summands& sum, Circle circle);

/// Up a tree within each node, `leaders` among the first ranks of the nodes, down within each node.
Course hierarchical(Summands& sum, Circle circle, Algorithm leaders);

/// What a rank is left with after `halvings` steps of recursive halving, in which bit i of `index`
/// says which half it keeps in step i.
base::Range share_of(std::size_t count, int index, int halvings);

/// The two halves of halving and doubling, of 2^k ranks: in the first each adds up its own share of
/// the values, in the second the shares spread.
Course scatter_by_halving(Summands& sum, Circle circle);
Course gather_by_doubling(Summands& sum, Circle circle);

}  // namespace parajoule::comm
