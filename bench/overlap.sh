#!/usr/bin/env bash
# Two ranks with a core each, within one node and as if on two, with 2 ms of computing a bucket.
#   bench/overlap.sh [REPEATS [MILLISECONDS]]
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench >/dev/null
ninja -C build/bench bench_overlap >/dev/null
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ranks_per_node in 2 1; do
  mpirun -q --bind-to core -n 2 build/bench/bench/bench_overlap "${1:-15}" "${2:-2}" "$ranks_per_node"
done
