#!/usr/bin/env python3
"""Real training on a network slowed to 1 Gbit/s, time per step beside its rehearsal.

    bench/real_model.py build/bench [--experiment FILE --profile FILE] [--ranks-per-host 1]
                        [--rounds 5] [--steps 60]

Two hosts (bench/two_hosts.sh). The rehearsal is told what was measured in the same run: the links,
fitted to transfers of the model's gradients (bench_network --machine), and the seconds of a pass,
out of steps whose sums do not overlap it. Methods take turns; numbers are medians over the rounds
with least and most. The first third of the steps does not count. Without an experiment: the
quickstart's ResNet-50, with the batch of each rank as it is there.
"""

import argparse
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = [
    ("strategy=synchronous", "overlap=none"),
    ("strategy=synchronous", "overlap=layer"),
    ("strategy=synchronous", "overlap=merged", "merged.merge_bytes=1000000"),
    ("strategy=pipe_sgd",),
    ("strategy=cocod_sgd", "cocod_sgd.period=1"),
    ("strategy=local_sgd", "local_sgd.period=4"),
    ("strategy=oldsgd", "oldsgd.period=1"),
    ("strategy=coarse_sparse", "coarse_sparse.sparsity=0.5"),
]
PASS = ("forward", "backward")


def label(case):
    """pipe_sgd width=2, of strategy=pipe_sgd and pipe_sgd.width=2."""
    return " ".join(re.sub(r"^(strategy=|\w+\.)", "", word) for word in case)


def settings(case):
    return [word for setting in case for word in ("--set", setting)]


def call(words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n"
                 f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Bench:
    def __init__(self, wanted, folder):
        self.wanted = wanted
        self.folder = folder
        self.binaries = wanted.build / "bin"

    def hosts(self, *words):
        return [HERE / "two_hosts.sh", "--ranks-per-host", self.wanted.ranks_per_host, *words]

    def experiment(self):
        ranks = 2 * self.wanted.ranks_per_host
        return [self.wanted.experiment, "--ranks", ranks, "--set", f"steps={self.wanted.steps}"]

    def machine(self):
        path = self.folder / "measured.toml"
        said = call(self.hosts(self.wanted.build / "bench/bench_network", "--machine", path,
                               self.wanted.profile, self.wanted.rounds))
        print(said)
        return path

    def train(self, case):
        """Seconds a step, and seconds of a pass, on the first rank."""
        records = self.folder / "records"
        call(self.hosts("--itself", self.binaries / "parajoule", "train", *self.experiment(),
                        *settings(case)),
             env=dict(os.environ, PARAJOULE_RECORDS=str(records)))
        record = max(records.glob("*.db"), key=os.path.getmtime)
        with sqlite3.connect(record) as rows:
            ends = [at for at, in rows.execute(
                "SELECT seconds FROM step WHERE rank = 0 ORDER BY step")]
            first = len(ends) // 3
            # Rows put short spans together, so where a step lies in them is not known: of the whole
            # run.
            inside = rows.execute(
                "SELECT sum(end_seconds - begin_seconds) FROM phase "
                "WHERE rank = 0 AND name IN (?, ?)", PASS).fetchone()[0]
        record.unlink()
        return (ends[-1] - ends[first]) / (len(ends) - 1 - first), inside / len(ends)

    def rehearse(self, case, machine, pass_seconds):
        said = call([self.binaries / "parajoule", "rehearse", *self.experiment(), *settings(case),
                     "--machine", machine, "--profile", self.wanted.profile, "--pass-seconds",
                     pass_seconds, "--no-record"])
        return seconds_per_step(said)


def seconds_per_step(said):
    found = re.search(r"time per step\s+([\d.e-]+) (ms|s|us)", said)
    if not found:
        sys.exit(f"no time per step in:\n{said}")
    return float(found[1]) * {"s": 1, "ms": 1e-3, "us": 1e-6}[found[2]]


def spread(values):
    values = [1e3 * value for value in values]
    return f"{statistics.median(values):.1f} ({min(values):.1f} ... {max(values):.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", type=pathlib.Path, help="folder of the build")
    parser.add_argument("--experiment", type=pathlib.Path,
                        default=HERE.parent / "examples/fashion_mnist.toml")
    parser.add_argument("--profile", type=pathlib.Path)
    parser.add_argument("--ranks-per-host", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(wanted, pathlib.Path(folder))
        machine = bench.machine()
        seen = {case: [] for case in CASES}
        for _ in range(wanted.rounds):
            for case in CASES:
                seen[case].append(bench.train(case))
        alone = statistics.median(inside for _, inside in seen[CASES[0]])
        print(f"a pass takes {1e3 * alone:.1f} ms; milliseconds a step: median (least ... most)")
        print(f"{'':48} {'measured':>26} {'rehearsed':>10} {'off':>8}")
        off = []
        for case in CASES:
            measured = [step for step, _ in seen[case]]
            virtual = bench.rehearse(case, machine, alone)
            off.append(virtual / statistics.median(measured) - 1)
            print(f"{label(case):48} {spread(measured):>26} {1e3 * virtual:10.1f} {off[-1]:+8.1%}")
        off = [abs(one) for one in off]
        print(f"rehearsed against measured: median {statistics.median(off):.1%}, "
              f"most {max(off):.1%}")


if __name__ == "__main__":
    main()
