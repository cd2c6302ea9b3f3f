// A binomial tree: the fewest steps for short vectors. R. Thakur, R. Rabenseifner, W. Gropp,
// "Optimization of collective communication operations in MPICH", Int. J. High Perform. Comput.
// Appl. 19 (2005).
//
//   p = 8:  0 <- 1, 2, 4;  2 <- 3;  4 <- 5, 6;  6 <- 7      up: each adds what its children have
//   step i: ranks with bit i as their lowest hand over to the one without it; down in reverse
#include <bit>

#include "comm/algorithms.h"

namespace parajoule::comm {

Course reduce_to_first(Summands& sum, Circle circle) {
  for (int bit = 1; bit < circle.size(); bit *= 2) {
    if (circle.own & bit) {
      Pending sending = sum.send(sum.all(), circle.rank(circle.own - bit));
      co_await sending;
      co_return;
    }
    if (circle.own + bit >= circle.size()) continue;
    Pending receiving = sum.receive_addend(sum.all(), circle.rank(circle.own + bit));
    co_await receiving;
    sum.add(sum.all());
  }
}

Course broadcast_from_first(Summands& sum, Circle circle) {
  const unsigned own = unsigned(circle.own);
  int bit = own == 0 ? int(std::bit_ceil(unsigned(circle.size()))) : int(own & -own);
  if (own != 0) {
    Pending receiving = sum.receive(sum.all(), circle.rank(circle.own - bit));
    co_await receiving;
  }
  // One after the other, the one with the most below it first: all at once would share the way out
  // of this rank, and each would come as late as the last.
  while ((bit /= 2) > 0) {
    if (circle.own + bit >= circle.size()) continue;
    Pending sending = sum.send(sum.all(), circle.rank(circle.own + bit));
    co_await sending;
  }
}

Course tree(Summands& sum, Circle circle) {
  Course up = reduce_to_first(sum, circle);
  co_await up;
  Course down = broadcast_from_first(sum, circle);
  co_await down;
}

}  // namespace parajoule::comm
