// Recursive vector halving with distance doubling, and back. R. Rabenseifner, "Optimization of
// collective reduction operations", ICCS 2004; R. Thakur, R. Rabenseifner, W. Gropp, "Optimization
// of collective communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005).
//
//   step i:  exchange with the rank whose number differs in bit i: give it one half of what is
//            left, add what it gives of the other; after k steps each has 2^-k of the sum
//   back:    exchange with the same ranks in reverse order, twice as much in each step
//
// Ranks beyond a power of two are paired off first: of the first 2 r ranks each even one and the
// next add half of the vector each, and the odd one hands over its half; at the end it is sent the
// sum. The distance doubles on the way down, so the longest messages go to the nearest rank.
#include <bit>

#include "comm/algorithms.h"

namespace parajoule::comm {
namespace {

base::Range half(base::Range range, bool second) {
  const std::size_t middle = range.begin + range.size() / 2;
  return second ? base::Range{middle, range.end} : base::Range{range.begin, middle};
}

/// Adds up the values of an even rank and the next one on the even one.
Course join_pair(Summands& sum, int partner, bool even) {
  const base::Range own = half(sum.all(), !even);
  const base::Range second = half(sum.all(), true);
  Pending receiving = sum.receive_addend(own, partner);
  Pending sending = sum.send(half(sum.all(), even), partner);
  co_await receiving;
  sum.add(own);
  co_await sending;
  Pending handing = even ? sum.receive(second, partner) : sum.send(second, partner);
  co_await handing;
}

}  // namespace

base::Range share_of(std::size_t count, int index, int halvings) {
  base::Range share{0, count};
  for (int i = 0; i < halvings; ++i) share = half(share, index >> i & 1);
  return share;
}

Course scatter_by_halving(Summands& sum, Circle circle) {
  for (int step = 0; 1 << step < circle.size(); ++step) {
    const int partner = circle.own ^ 1 << step;
    const base::Range kept = share_of(sum.count(), circle.own, step + 1);
    Pending receiving = sum.receive_addend(kept, circle.rank(partner));
    Pending sending = sum.send(share_of(sum.count(), partner, step + 1), circle.rank(partner));
    co_await receiving;
    sum.add(kept);
    co_await sending;
  }
}

Course gather_by_doubling(Summands& sum, Circle circle) {
  for (int step = std::countr_zero(unsigned(circle.size())); step-- > 0;) {
    const int partner = circle.own ^ 1 << step;
    const base::Range coming = share_of(sum.count(), partner, step + 1);
    Pending receiving = sum.receive(coming, circle.rank(partner));
    Pending sending = sum.send(share_of(sum.count(), circle.own, step + 1), circle.rank(partner));
    co_await receiving;
    co_await sending;
  }
}

Course halving_doubling(Summands& sum, Circle circle) {
  const int pairs = circle.size() - int(std::bit_floor(unsigned(circle.size())));
  const bool paired = circle.own < 2 * pairs;
  const bool even = circle.own % 2 == 0;
  const int partner = paired ? circle.rank(circle.own ^ 1) : -1;
  if (paired) {
    Course joining = join_pair(sum, partner, even);
    co_await joining;
  }
  if (!paired || even) {
    Circle few{.ranks = {}, .own = paired ? circle.own / 2 : circle.own - pairs};
    for (int i = 0; i < circle.size(); ++i)
      if (i >= 2 * pairs || i % 2 == 0) few.ranks.push_back(circle.rank(i));
    Course down = scatter_by_halving(sum, few);
    co_await down;
    Course back = gather_by_doubling(sum, few);
    co_await back;
  }
  if (!paired) co_return;
  Pending handing = even ? sum.send(sum.all(), partner) : sum.receive(sum.all(), partner);
  co_await handing;
}

}  // namespace parajoule::comm
