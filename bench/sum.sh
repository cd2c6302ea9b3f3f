#!/usr/bin/env bash
# Sums within one node beside MPI_Allreduce: two ranks with a core each, then four ranks on two
# cores.   bench/sum.sh [REPEATS]
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench >/dev/null
ninja -C build/bench bench_sum >/dev/null
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun -q --bind-to core -n 2 build/bench/bench/bench_sum "${1:-31}"
mpirun -q --oversubscribe --bind-to none -n 4 taskset -c 0,1 build/bench/bench/bench_sum "${1:-31}"
