#!/usr/bin/env python3
"""What metering costs, beside what others do, taking turns in one run.

    bench/meter/metering.py build/bench [--rounds 7] [--seconds 10] [--json FILE] [--only PART]
                          [--peers FOLDER]

cost    processor time at 10 Hz and 100 Hz with 1, 8 and 64 sources: files, and fakes whose read
        takes 2.4 ms, asleep or computing. Target: under 0.1 % of a core at 10 Hz and 8 files.
memory  resident memory after as many rounds as an hour at 10 Hz has, over that after a tenth.
start   wall time, processor time and largest resident memory of wrapping `true`, beside `true`
        alone, `perf stat`, and perun and codecarbon out of PyPI, in virtual environments that
        --peers names (else in a temporary folder).
        Target: start and end of ours take under 30 ms more than `true`.

Numbers are medians over the rounds, with least and most; ratios are medians of the rounds' ratios.
Each answer is checked before its time counts: the status of the wrapped command, the rounds made.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv

PINNED = {"perun": "perun==0.9.1", "codecarbon": "codecarbon==3.3.2"}
CASES = [(kind, sources, hertz) for kind in ("file", "waiting", "spinning")
         for sources in (1, 8, 64) for hertz in (10, 100)]


def spread(values, factor=1.0, digits=3):
    return (f"{factor * statistics.median(values):.{digits}f}"
            f" ({factor * min(values):.{digits}f} ... {factor * max(values):.{digits}f})")


def bench(program, kind, sources, hertz, seconds):
    words = [program, kind, str(sources), str(hertz), str(seconds)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def possible(kind, sources, hertz):
    """Whether a round fits into its period: reads that take longer are another question."""
    return kind == "file" or sources * 0.0024 < 0.8 / hertz


def measure_cost(program, rounds, seconds):
    cases = [case for case in CASES if possible(*case)]
    results = {case: [] for case in cases}
    for _ in range(rounds):
        for case in cases:
            results[case].append(bench(program, *case, seconds))
    print(f"{'kind':9s} {'sources':>7s} {'Hz':>4s}   % of one core                 rounds left out")
    for (kind, sources, hertz), runs in results.items():
        print(f"{kind:9s} {sources:7d} {hertz:4d}   {spread([r['core'] for r in runs], 100):28s} "
              f"{sum(r['left_out'] for r in runs):6d} of {sum(r['rounds'] for r in runs)}")
    return [run for runs in results.values() for run in runs]


def measure_memory(program, rounds):
    """36,000 rounds through the sampler, its threads and its sink."""
    runs = [bench(program, "file", 8, 1000, 36) for _ in range(min(rounds, 3))]
    growth = [run["resident_late"] - run["resident_early"] for run in runs]
    print(f"resident memory after {runs[0]['rounds']} rounds of 8 sources: "
          f"{spread([run['resident_late'] for run in runs], 1 / 2**20)} MiB, "
          f"grown by {spread(growth, 1 / 1024, 0)} KiB since the first tenth")
    return runs


def environment(peers, name):
    """A virtual environment with one pinned tool, or why there is none."""
    folder = peers / name
    program = folder / "bin" / name
    if not program.exists():
        venv.create(folder, with_pip=True, clear=True)
        done = subprocess.run([folder / "bin/pip", "install", "-q", PINNED[name]],
                              capture_output=True, text=True)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            return None, lines[-1] if lines else "pip failed"
    return program, None


def contenders(build, peers):
    found = {"true": ["true"],
             "parajoule": [str(build / "bin/parajoule"), "measure", "--", "true"]}
    missing = {}
    if shutil.which("perf"):
        found["perf stat"] = ["perf", "stat", "true"]
    else:
        missing["perf stat"] = "perf is not installed"
    for name, words in (("perun", ["monitor", "--binary", "true"]),
                        ("codecarbon", ["monitor", "--no-api", "--", "true"])):
        program, why = environment(peers, name)
        if program:
            found[name] = [str(program), *words]
        else:
            missing[name] = why
    return found, missing


def wrap(words, folder):
    environ = dict(os.environ, PARAJOULE_RECORDS=folder, HOME=folder)
    begin = time.perf_counter()
    child = subprocess.Popen(words, cwd=folder, env=environ, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    return dict(wall=wall, cpu=usage.ru_utime + usage.ru_stime, resident=usage.ru_maxrss * 1024,
                status=child.returncode)


def measure_start(build, peers, rounds):
    found, missing = contenders(build, peers)
    results = {name: [] for name in found}
    with tempfile.TemporaryDirectory() as folder:
        for name, words in found.items():
            wrap(words, folder)  # warms up
        for _ in range(rounds):
            for name, words in found.items():
                results[name].append(wrap(words, folder))
    print(f"{'':10s} {'wall ms':30s} {'CPU ms':30s}   MiB  x parajoule")
    for name, runs in results.items():
        bad = [run["status"] for run in runs if run["status"] != 0]
        ratios = [run["wall"] / ours["wall"] for run, ours in zip(runs, results["parajoule"])]
        print(f"{name:10s} {spread([r['wall'] for r in runs], 1e3, 1):30s} "
              f"{spread([r['cpu'] for r in runs], 1e3, 1):30s} "
              f"{statistics.median(r['resident'] for r in runs) / 2**20:5.1f}  "
              f"{statistics.median(ratios):.2f}" + (f"   status {bad}" if bad else ""))
    for name, why in missing.items():
        print(f"{name:10s} not there: {why}")
    ours = [run["wall"] - alone["wall"]
            for run, alone in zip(results["parajoule"], results["true"])]
    print(f"start and end of ours: {spread(ours, 1e3, 1)} ms more than `true`; target 30 ms")
    if any(run["status"] != 0 for run in results["parajoule"]):
        sys.exit("parajoule did not hand on the status of `true`")
    return dict(results=results, missing=missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--peers", type=pathlib.Path)
    parser.add_argument("--only", choices=("cost", "memory", "start"))
    options = parser.parse_args()
    build = options.build.resolve()
    program = str(build / "bench/bench_meter")
    parts = {"cost": lambda: measure_cost(program, options.rounds, options.seconds),
             "memory": lambda: measure_memory(program, options.rounds),
             "start": lambda: measure_start(build, peers, options.rounds)}
    outcome = {}
    with tempfile.TemporaryDirectory() as scratch:
        peers = (options.peers or pathlib.Path(scratch)).resolve()
        for name, part in parts.items():
            if options.only in (None, name):
                outcome[name] = part()
    if options.json:
        options.json.write_text(json.dumps(outcome, indent=1))


if __name__ == "__main__":
    main()
