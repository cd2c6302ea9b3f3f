// What `parajoule trace --example` prints.

#include "exact/problem.h"

namespace parajoule::exact {

std::string_view example_problem() {
  return R"(// A problem for `parajoule trace`: small enough to be checked by hand.
{
  "version": 1,

  // Four ranks; f_r(w) = 1/2 sum_k a_rk (w_k - b_rk)^2 with the gradient a_r (w - b_r).
  // Other kinds: "least_squares", "gradients", "linear_network", "none".
  "kind": "quadratic",
  "curvature": [[1], [2], [3], [4]],  // a: a row for each rank that trains
  "target": [[1], [-1], [2], [0.5]],  // b

  "start": [0],          // weights at the start: one row, or a row for each rank
  "learning_rate": 0.1,  // a number, or one for each step; the last repeats
  "momentum": 0,

  // The rest may be left out.
  // "shapes": [[2, 2], [3]],  // of the layers, end to end; without it there is one
  // "steps_per_epoch": 10,    // for methods that look at epochs
  // "loss": [2.3, 1.9],       // of each epoch; the last repeats

  // Seconds that a pass takes: a number, one for each rank, or a list for each rank, an entry a
  // step. Slept over threads and MPI, spent in virtual time.
  "durations": 0,
  // Virtual time only. null: a transfer takes the latency alone.
  "link": {"latency_seconds": 0, "bytes_per_second": null}
}
)";
}

}  // namespace parajoule::exact
