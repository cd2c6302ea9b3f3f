#!/usr/bin/env python3
"""Two ranks of ours beside two ranks of PyTorch's DistributedDataParallel, on the same net, batch,
pictures, BLAS kernel and cores, one thread a rank, taking turns in one run.

    bench/ddp.py build/release [--case mlp] [--rounds 7] [--json FILE]

Each round runs ours, the peer as its tutorial writes it, the peer at its best, and the bound: the
peer's own step without any communication. Rates are those of the steps after the settling ones.
CPU time per sample is that of whole processes over the same steps; ours comes from a long and a
short run, whose difference is the steps. Ratios are medians over the rounds with a 95 % interval
from a bootstrap over the rounds.
"""

import argparse
import ctypes
import json
import os
import pathlib
import random
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile

RANKS = 2
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's torch
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")
CASES = {  # batch: of each rank; targets: least ratio to tutorial, best and bound
    "mlp": dict(model="mlp", options=["mlp.hidden=[1024, 1024]"], batch=64, steps=400,
                settling=100, parameters=1863690, targets=dict(tutorial=1.5, alone=0.8)),
    "resnet20": dict(model="resnet20", options=[], batch=64, steps=40, settling=10,
                     parameters=269434, targets=dict(tutorial=1.2, best=1.05)),
    "resnet50": dict(model="resnet50", options=[], batch=8, steps=8, settling=2,
                     parameters=23528522, targets=dict(tutorial=1.1, best=1.0)),
}
CONTENDERS = ("ours", "tutorial", "best", "alone")


def write_idx(path, extents, values):
    header = bytes([0, 0, 8, len(extents)]) + struct.pack(f">{len(extents)}I", *extents)
    path.write_bytes(header + values)


def enlarge(picture):
    """28x28 grey to 3x224x224, each pixel eight times as wide and high."""
    rows = b"".join(bytes(value for value in picture[28 * y:28 * y + 28] for _ in range(8)) * 8
                    for y in range(28))
    return rows * 3


def write_data(case, folder):
    """Fashion-MNIST as it is, or a part of it enlarged; few pictures to evaluate, as the
    evaluation is not what is compared."""
    import gzip
    pictures = gzip.open(FASHION_MNIST / "train-images-idx3-ubyte.gz").read()[16:]
    labels = gzip.open(FASHION_MNIST / "train-labels-idx1-ubyte.gz").read()[8:]
    for part, count in (("train", 256 if case == "resnet50" else 60000), ("t10k", 64)):
        extents = (count, 3, 224, 224) if case == "resnet50" else (count, 28, 28)
        values = pictures[:count * 784]
        if case == "resnet50":
            values = b"".join(enlarge(values[784 * i:784 * i + 784]) for i in range(count))
        write_idx(folder / f"{part}-images-idx3-ubyte", extents, values)
        write_idx(folder / f"{part}-labels-idx1-ubyte", (count,), labels[:count])


def surroundings():
    """One thread, and one BLAS kernel for both."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1",
                       MKL_NUM_THREADS="1")
    if " avx2 " in flags:
        environment["OPENBLAS_CORETYPE"] = "Haswell"
    return environment


def blas_kernel(environment):
    words = "import ctypes;b=ctypes.CDLL('libopenblas.so.0');" \
            "b.openblas_get_corename.restype=ctypes.c_char_p;" \
            "print(b.openblas_get_corename().decode())"
    return subprocess.run([PYTHON, "-c", words], env=environment, check=True, capture_output=True,
                          text=True).stdout.strip()


def rate_of(measures):
    """Of ranks that keep each other's time, or, without communication, of each by itself."""
    return dict(samples_per_second=sum(m["samples"] / m["seconds"] for m in measures),
                cpu_seconds_per_sample=sum(m["cpu_seconds"] for m in measures)
                / sum(m["samples"] for m in measures))


def run_peer(name, case, form, place):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = []
    for rank in range(RANKS):
        environment = dict(place.environment, RANK=str(rank), WORLD_SIZE=str(RANKS),
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        words = ["taskset", "-c", str(place.cores[rank]), PYTHON,
                 str(pathlib.Path(__file__).with_name("ddp_peer.py")), name, form,
                 *map(str, (case["batch"], case["steps"], case["settling"])), str(place.folder)]
        ranks.append(subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True))
    outputs = [rank.communicate()[0] for rank in ranks]
    assert not any(rank.returncode for rank in ranks), f"the peer failed: {name} {form}"
    measures = [json.loads(output.splitlines()[-1]) for output in outputs]
    assert all(m["parameters"] == case["parameters"] for m in measures), measures[0]["parameters"]
    return rate_of(measures) | dict(losses=[m["losses"] for m in measures],
                                    libtorch=measures[0]["torch"])


def start_ours(name, case, steps, place):
    """Runs `steps` steps; the record and the CPU seconds of all processes."""
    settings = [f"model={case['model']}", "data=idx", f"idx.folder={place.folder}", f"steps={steps}",
                f"ranks={RANKS}", f"local_batch_size={case['batch']}", "learning_rate=0.01",
                "optimizer=sgd", "sgd.momentum=0.9", "threads=1", "epochs=1000",
                f"name=ddp-{name}", f"records={place.folder}/records",
                f"checkpoints={place.folder}/checkpoints", *case["options"]]
    experiment = place.folder / "experiment.toml"
    experiment.write_text("version = 1\n")
    words = [str(place.program), "train", str(experiment), "--fresh",
             *(f"--set={setting}" for setting in settings)]
    process = subprocess.Popen(words, env=place.environment, cwd=place.folder,
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"ours failed: {' '.join(words)}"
    newest = max((place.folder / "records").glob("*.db"), key=lambda file: file.stat().st_mtime)
    return newest, usage.ru_utime + usage.ru_stime


def run_ours(name, case, place):
    short_steps = case["settling"]
    _, short = start_ours(name, case, short_steps, place)
    record, long = start_ours(name, case, case["steps"], place)
    database = sqlite3.connect(record)
    rows = database.execute("SELECT rank, step, seconds, samples, loss FROM step "
                            "ORDER BY rank, step").fetchall()
    settings = dict(database.execute("SELECT key, value FROM setting"))
    database.close()
    assert settings["blas_kernel"] == place.kernel, settings["blas_kernel"]
    measures, losses = [], []
    for rank in range(RANKS):
        mine = [row for row in rows if row[0] == rank]
        assert len(mine) == case["steps"], f"{len(mine)} steps recorded"
        steady = mine[case["settling"]:]
        samples = sum(row[3] for row in steady)
        measures.append(dict(samples=samples,
                             seconds=mine[-1][2] - mine[case["settling"] - 1][2],
                             cpu_seconds=(long - short) / RANKS))
        losses.append([row[4] for row in mine])
    return rate_of(measures) | dict(losses=losses, libtorch=settings["libtorch"])


def learned(losses):
    """The answer is checked before the time counts: a net that trains has a falling loss."""
    mean = [statistics.fmean(step) for step in zip(*losses)]
    part = max(1, len(mean) // 4)
    return statistics.fmean(mean[-part:]) < statistics.fmean(mean[:part])


def ratio(ours, other, less_is_better=False):
    """Median over the rounds, and the bootstrap's 2.5 % and 97.5 %."""
    pairs = [b / a if less_is_better else a / b for a, b in zip(ours, other)]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(pairs, k=len(pairs))) for _ in range(10000))
    return dict(median=statistics.median(pairs), low=medians[250], high=medians[-251])


def compare(name, case, rounds, place):
    results = {contender: [] for contender in CONTENDERS}
    for turn in range(rounds):
        order = CONTENDERS[turn % 4:] + CONTENDERS[:turn % 4]
        for contender in order:
            result = (run_ours(name, case, place) if contender == "ours"
                      else run_peer(name, case, contender, place))
            assert learned(result.pop("losses")) or case["steps"] < 20, f"{contender} learns nothing"
            results[contender].append(result)
            libtorch = {r["libtorch"] for of in results.values() for r in of}
            assert len(libtorch) == 1, f"not the same libtorch: {libtorch}"
            print(f"  round {turn + 1}: {contender:9s} {result['samples_per_second']:9.1f} "
                  f"samples/s  {1e3 * result['cpu_seconds_per_sample']:8.3f} CPU ms/sample",
                  file=sys.stderr, flush=True)
    column = lambda contender, key: [result[key] for result in results[contender]]
    ratios = {other: dict(
        samples_per_second=ratio(column("ours", "samples_per_second"),
                                 column(other, "samples_per_second")),
        cpu_seconds_per_sample=ratio(column("ours", "cpu_seconds_per_sample"),
                                     column(other, "cpu_seconds_per_sample"), less_is_better=True))
        for other in CONTENDERS[1:]}
    return dict(case=name, rounds=results, ratios=ratios, targets=case["targets"])


def table(outcome):
    lines = [f"{outcome['case']}: {RANKS} ranks, {CASES[outcome['case']]['batch']} samples a rank "
             f"and step, {len(outcome['rounds']['ours'])} rounds, libtorch "
             f"{outcome['rounds']['ours'][0]['libtorch']}",
             f"  {'':9s} {'samples/s':>10s} {'CPU ms/sample':>14s}   "
             f"{'ours faster by':>24s} {'less CPU time by':>24s}  target"]
    for contender in CONTENDERS:
        rounds = outcome["rounds"][contender]
        line = f"  {contender:9s} {statistics.median(r['samples_per_second'] for r in rounds):10.1f}" \
               f" {1e3 * statistics.median(r['cpu_seconds_per_sample'] for r in rounds):14.3f}   "
        if contender != "ours":
            for key in ("samples_per_second", "cpu_seconds_per_sample"):
                r = outcome["ratios"][contender][key]
                line += f"{r['median']:8.3f} ({r['low']:.3f} .. {r['high']:.3f}) "
            target = outcome["targets"].get(contender)
            line += f" {target}" if target else ""
        lines.append(line.rstrip())
    return "\n".join(lines)


class Place:
    """Where the runs happen: program, cores, environment, folder of the data."""

    def __init__(self, build, folder):
        self.program = pathlib.Path(build).resolve() / "bin" / "parajoule"
        self.cores = sorted(os.sched_getaffinity(0))[:RANKS]
        self.environment = surroundings()
        self.kernel = blas_kernel(self.environment)
        self.folder = pathlib.Path(folder)
        assert len(self.cores) == RANKS, f"needs {RANKS} cores, a core a rank"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", help="folder of the build, which holds bin/parajoule")
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    outcomes = []
    for name in arguments.case or CASES:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(arguments.build, folder)
            print(f"OpenBLAS kernel {place.kernel}, OPENBLAS_NUM_THREADS="
                  f"{place.environment['OPENBLAS_NUM_THREADS']}, cores {place.cores}, load "
                  f"{os.getloadavg()[0]:.2f}", flush=True)
            write_data(name, place.folder)
            outcomes.append(compare(name, CASES[name], arguments.rounds, place))
            print(table(outcomes[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(outcomes, indent=1))


if __name__ == "__main__":
    main()
