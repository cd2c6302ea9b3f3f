// Two levels: first the ranks of a node, then the nodes. P. Goyal et al., "Accurate, Large
// Minibatch SGD: Training ImageNet in 1 Hour", 2017, arXiv:1706.02677, section 4; X. Jia et al.,
// "Highly Scalable Deep Learning Training System with Mixed-Precision", 2018, arXiv:1807.11205.
//
//   1. the first rank of each node adds up the values of its node
//   2. these ranks add up among themselves, by another algorithm
//   3. each passes the sum on to its node
#include "comm/algorithms.h"

namespace parajoule::comm {

Course hierarchical(Summands& sum, Circle circle, Algorithm leaders) {
  const std::vector<int> node = sum.nodes().node;
  const auto node_of = [&](int index) { return node[std::size_t(circle.rank(index))]; };
  Circle home;
  Circle firsts;
  std::vector<bool> seen(node.size(), false);
  for (int i = 0; i < circle.size(); ++i) {
    if (node_of(i) == node_of(circle.own)) {
      if (i == circle.own) home.own = home.size();
      home.ranks.push_back(circle.rank(i));
    }
    if (seen[std::size_t(node_of(i))]) continue;
    seen[std::size_t(node_of(i))] = true;
    if (i == circle.own) firsts.own = firsts.size();
    firsts.ranks.push_back(circle.rank(i));
  }
  Course up = reduce_to_first(sum, home);
  co_await up;
  if (home.own == 0) {
    Course across = leaders(sum, firsts);
    co_await across;
  }
  Course down = broadcast_from_first(sum, home);
  co_await down;
}

}  // namespace parajoule::comm
