// Binary blocks. R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
//
//   p = 7:  blocks {0 1 2 3} {4 5} {6}, one for each binary digit of p, the largest first
//
//   1. In each block recursive halving: a rank of a block of b has 1 / b of the block's sum.
//   2. From the smallest block on, each hands what it has to the next larger one, which adds it:
//      the share of a rank is that of b' / b ranks of the larger block.
//   3. The largest block has the sum; it goes back the same way, and spreads in each block by
//      doubling.
#include <bit>

#include "comm/algorithms.h"

namespace parajoule::comm {
namespace {

struct Block {
  int first;  ///< index in the circle
  int size;   ///< a power of two
  int halvings() const { return std::countr_zero(unsigned(size)); }
};

/// The largest first.
std::vector<Block> blocks_of(int ranks) {
  std::vector<Block> blocks;
  for (int first = 0; first < ranks; first += blocks.back().size)
    blocks.push_back({first, int(std::bit_floor(unsigned(ranks - first)))});
  return blocks;
}

/// Hands this rank's share of a block of `size` ranks to those of the larger block that have the
/// parts of it, and takes the sum of all from them.
Course pass_up(Summands& sum, Circle circle, int index, int size, Block larger) {
  std::vector<Pending> sending;
  for (int other = index; other < larger.size; other += size)
    sending.push_back(sum.send(share_of(sum.count(), other, larger.halvings()),
                               circle.rank(larger.first + other)));
  for (Pending& one : sending) co_await one;
  std::vector<Pending> receiving;
  for (int other = index; other < larger.size; other += size)
    receiving.push_back(sum.receive(share_of(sum.count(), other, larger.halvings()),
                                    circle.rank(larger.first + other)));
  for (Pending& one : receiving) co_await one;
}

}  // namespace

Course binary_blocks(Summands& sum, Circle circle) {
  const std::vector<Block> blocks = blocks_of(circle.size());
  std::size_t at = 0;
  while (circle.own >= blocks[at].first + blocks[at].size) ++at;
  const Block own = blocks[at];
  const int index = circle.own - own.first;
  const auto begin = circle.ranks.begin() + own.first;
  const Circle block{.ranks = {begin, begin + own.size}, .own = index};
  const base::Range share = share_of(sum.count(), index, own.halvings());
  const bool smaller = at + 1 < blocks.size();
  const int below = smaller ? circle.rank(blocks[at + 1].first + index % blocks[at + 1].size) : -1;

  Course down = scatter_by_halving(sum, block);
  co_await down;
  if (smaller) {
    Pending receiving = sum.receive_addend(share, below);
    co_await receiving;
    sum.add(share);
  }
  if (at > 0) {
    Course up = pass_up(sum, circle, index, own.size, blocks[at - 1]);
    co_await up;
  }
  if (smaller) {
    Pending sending = sum.send(share, below);
    co_await sending;
  }
  Course back = gather_by_doubling(sum, block);
  co_await back;
}

}  // namespace parajoule::comm
