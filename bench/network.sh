#!/usr/bin/env bash
# Every method on a network of 1 Gbit/s: two ranks on two hosts, then four on two.
#   bench/network.sh [ROUNDS [STEPS [MEGABYTES [RATIO...]]]]
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench >/dev/null
ninja -C build/bench bench_network >/dev/null
for ranks in 1 2; do
  bench/two_hosts.sh --ranks-per-host "$ranks" \
    build/bench/bench/bench_network bench/network.cases models/resnet50.toml "$@"
  echo
done
