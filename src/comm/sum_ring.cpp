// Ring all-reduce. P. Patarasuk, X. Yuan: "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", J. Parallel Distrib. Comput. 69 (2009).
//
//   chunk c of p; rank r sends to r + 1 and receives from r - 1, all modulo p
//   reduce-scatter, s = 0 ... p - 2:  send chunk r - s,      add to chunk r - s - 1 what comes
//   all-gather,     s = 0 ... p - 2:  send chunk r + 1 - s,  receive chunk r - s
//
// With an encoder at every hop: Y. Li et al., "Pipe-SGD", NeurIPS 2018, arXiv:1811.03619. That the
// bytes of a finished chunk are passed on as they are, and its owner takes their decoded values
// too, is ours: else ranks would differ.
#include <vector>

#include "comm/algorithms.h"

namespace parajoule::comm {

Course ring(Summands& sum, Circle circle) {
  const int p = circle.size();
  const int right = circle.rank(circle.after(1));
  const int left = circle.rank(circle.after(-1));
  const auto chunk = [&](int steps) { return part_of(sum.count(), p, circle.after(steps)); };
  for (int step = 0; step < p - 1; ++step) {
    Pending receiving = sum.receive_addend(chunk(-step - 1), left);
    Pending sending = sum.send(chunk(-step), right);
    co_await receiving;
    sum.add(chunk(-step - 1));
    co_await sending;
  }
  for (int step = 0; step < p - 1; ++step) {
    Pending receiving = sum.receive(chunk(-step), left);
    Pending sending = sum.send(chunk(1 - step), right);
    co_await receiving;
    co_await sending;
  }
}

Course coded_ring(Summands& sum, Circle circle, const Codec& codec) {
  const int p = circle.size();
  const int right = circle.rank(circle.after(1));
  const int left = circle.rank(circle.after(-1));
  const auto chunk = [&](int steps) { return part_of(sum.count(), p, circle.after(steps)); };
  const auto length = [&](int steps) { return codec.bytes(chunk(steps).size()); };
  const std::size_t longest = codec.bytes(sum.count() / std::size_t(p) + 1);
  base::Vector out = sum.wire(longest);
  base::Vector in = sum.wire(longest);
  for (int step = 0; step < p - 1; ++step) {
    const base::Vector coming = in[{0, length(-step - 1)}];
    const base::Vector going = out[{0, length(-step)}];
    codec.encode(going, sum[chunk(-step)]);
    Pending receiving = sum.receive_bytes(coming, left);
    Pending sending = sum.send_bytes(going, right);
    co_await receiving;
    codec.add_decoded(sum[chunk(-step - 1)], coming);
    co_await sending;
  }
  codec.encode(out[{0, length(1)}], sum[chunk(1)]);
  codec.decode(sum[chunk(1)], out[{0, length(1)}]);
  for (int step = 0; step < p - 1; ++step) {
    const base::Vector coming = in[{0, length(-step)}];
    Pending receiving = sum.receive_bytes(coming, left);
    Pending sending = sum.send_bytes(out[{0, length(1 - step)}], right);
    co_await receiving;
    codec.decode(sum[chunk(-step)], coming);
    co_await sending;
    std::swap(out, in);
  }
}

}  // namespace parajoule::comm
