#!/usr/bin/env python3
"""Trains every method of `parajoule strategies` on Fashion-MNIST over MPI, side by side.

    compare.py BIN --short          every method, sum and optimizer for 50 steps of the
                                    quickstart's ResNet-50: each must end with a lower loss than
                                    it began
    compare.py BIN --write FILE     the table of docs/methods.md: 3 seeds, 4 ranks, equal epochs

BIN: the folder of the program. A method that is new here needs nothing: it runs with its own
defaults unless OPTIONS says that four ranks on one machine want others.
"""

import argparse
import collections
import math
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

RANKS = 4
REFERENCE = "synchronous"
# Those that are synchronous SGD in another order of work: the error must be its error.
EQUAL = {"synchronous", "lsgd"}
MARGIN_EQUAL, MARGIN = 0.5, 1.5  # points of top-1 error
# What a method needs here that its defaults do not give; `--ranks-per-node` pretends nodes.
OPTIONS = {"hierarchical_parallel_sgd": {"sgd.momentum": 0, "sgd.nesterov": "false"}}

Outcome = collections.namedtuple(
    "Outcome", "error first_loss last_loss seconds bytes_a_step exposed memory busy watt_hours")


def names(program, kind):
    listed = subprocess.run([program, kind], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line and not line[0].isspace()]


def mean_losses(rows, share):
    """Mean loss over the first and over the last `share` of the steps of all ranks."""
    most = max(step for step, _ in rows) + 1
    count = max(1, int(most * share))
    first = [loss for step, loss in rows if step < count]
    last = [loss for step, loss in rows if step >= most - count]
    return statistics.mean(first), statistics.mean(last)


def outcome_of(record, memory):
    with sqlite3.connect(record) as base:
        one = lambda query: base.execute(query).fetchone()
        losses = [row for row in base.execute(
            "SELECT step, loss FROM step WHERE samples > 0") if math.isfinite(row[1])]
        first, last = mean_losses(losses, 0.2)
        error = one("SELECT 100.0 * numerator / denominator FROM epoch WHERE metric = 'top1_error' "
                    "AND \"set\" = 'validation' ORDER BY epoch DESC")
        sent, waited, steps = one("SELECT sum(sent_bytes), sum(waited_seconds), count(*) FROM step")
        seconds, = one("SELECT max(seconds) - (SELECT min(begin_seconds) FROM phase "
                       "WHERE name = 'forward') FROM step")
        trained, = one("SELECT sum(end_seconds - begin_seconds) FROM phase "
                       "WHERE name IN ('data_wait', 'forward', 'backward', 'update', "
                       "'exposed_communication')")
        busy = one("SELECT avg(value) FROM reading JOIN source USING (source) "
                   "WHERE quantity = 'utilisation'")
        energy = [most - least for most, least in base.execute(
            "SELECT max(value), min(value) FROM reading JOIN source USING (source) "
            "WHERE quantity = 'energy' AND part_of IS NULL GROUP BY source")]
    return Outcome(error[0] if error else math.nan, first, last, seconds, sent / steps,
                   waited / trained if trained else math.nan, memory,
                   busy[0] if busy and busy[0] is not None else math.nan, sum(energy) / 3600)


def train(arguments, settings, ranks):
    """One run; what it says when it fails is the error."""
    with tempfile.TemporaryDirectory() as folder:
        words = [arguments.bin / "parajoule", "train", arguments.experiment, "--ranks", str(ranks)]
        for key, value in {**settings, "records": f"{folder}/records"}.items():
            words += ["--set", f"{key}={value}"]
        output = pathlib.Path(folder, "output")
        with open(output, "wb") as file:
            process = subprocess.Popen(words, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
            # Of the launcher and all it has waited for: the largest is a rank.
            _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            raise RuntimeError(f"{settings}: status {os.waitstatus_to_exitcode(status)}: "
                               f"{output.read_text().strip().splitlines()[-1]}")
        record, = pathlib.Path(folder, "records").glob("*.db")
        return outcome_of(record, used.ru_maxrss)


def method_settings(method):
    return {"strategy": method, **OPTIONS.get(method, {})}


def short(arguments):
    small = {"steps": 50, "global_batch_size": 48, "learning_rate": 0.02, "settling_steps": 0}
    tried = [method_settings(name) for name in names(arguments.bin / "parajoule", "strategies")]
    tried += [{"sum": name} for name in names(arguments.bin / "parajoule", "sums")]
    tried += [{"optimizer": name, "learning_rate": 0.002 if name.startswith("ada") else 0.02}
              for name in names(arguments.bin / "parajoule", "optimizers")]
    failed = 0
    for settings in tried:
        try:
            outcome = train(arguments, {**small, **settings}, RANKS)
        except RuntimeError as error:
            print(f"FAILED  {error}")
            failed += 1
            continue
        learns = outcome.last_loss < outcome.first_loss
        failed += not learns
        words = " ".join(f"{key}={value}" for key, value in settings.items())
        print(f"{'ok' if learns else 'FAILED':7} {words}: loss {outcome.first_loss:.3f} -> "
              f"{outcome.last_loss:.3f}", flush=True)
    print(f"{len(tried) - failed} passed, {failed} failed")
    return failed == 0 and len(tried) > 0


def spread(values, form):
    """Mean, and the standard deviation of the seeds behind it."""
    mean = statistics.mean(values)
    if len(values) < 2:
        return form.format(mean)
    return f"{form.format(mean)} ± {form.format(statistics.stdev(values))}"


def row(method, runs, reference):
    column = lambda name: [getattr(run, name) for run in runs]
    apart = statistics.mean(column("error")) - statistics.mean([run.error for run in reference])
    margin = MARGIN_EQUAL if method in EQUAL else MARGIN
    kept = "yes" if apart <= margin else f"no (margin {margin})"
    return [f"`{method}`", spread(column("error"), "{:.2f}"), f"{apart:+.2f}", kept,
            spread(column("seconds"), "{:.1f}"),
            f"{statistics.mean(column('bytes_a_step')) / 1e6:.3f}",
            f"{100 * statistics.mean(column('exposed')):.0f} %",
            f"{statistics.mean(column('memory')) / 1024:.0f}",
            f"{100 * statistics.mean(column('busy')):.0f} %",
            spread(column("watt_hours"), "{:.2f}")]


HEADINGS = ["method", "top-1 error, %", "apart", "within margin", "time, s",
            "sent, MB a step and rank", "exposed communication", "memory of a rank, MB",
            "utilisation", "energy modelled, Wh"]
# What five epochs without further tuning want: a rate for the method that knows no momentum, and
# epochs for DASO in which it does not wait.
FOR_THE_TABLE = {"hierarchical_parallel_sgd": {"learning_rate": 0.3},
                 "daso": {"daso.warmup_epochs": 1, "daso.cooldown_epochs": 1}}
# 120 samples are divided by 2, 3 and 4: where ranks serve, fewer train.
COMPARED = {"model": "mlp", "mlp.hidden": "[256]", "steps": 0, "epochs": 5, "global_batch_size": 120,
            "learning_rate": 0.05, "settling_steps": 20}


def compare(arguments):
    """All methods in turn, seed after seed, so that a slow hour does not fall on one method."""
    settings = {key: value for key, value in COMPARED.items() if value != 0}
    methods = names(arguments.bin / "parajoule", "strategies")
    runs = collections.defaultdict(list)
    for seed in range(1, arguments.seeds + 1):
        for method in methods:
            runs[method].append(train(arguments, {**settings, **method_settings(method),
                                                  **FOR_THE_TABLE.get(method, {}),
                                                  "seed": seed}, RANKS))
            print(seed, method, runs[method][-1], file=sys.stderr, flush=True)
    rows = [HEADINGS, ["---"] * len(HEADINGS)]
    rows += [row(method, runs[method], runs[REFERENCE]) for method in methods]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    write_page(arguments.write, table, settings, arguments.seeds)
    return all("no (" not in line for line in table.splitlines())


BEGIN, END = "<!-- made by test/methods/compare.py -->", "<!-- end -->"


def write_page(page, table, settings, seeds):
    """Puts the table into the page in place of the one before."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    words = ", ".join(f"{key} {value}" for key, value in settings.items())
    own = "".join(f" `{method}` has {key} {value}." for method, given in FOR_THE_TABLE.items()
                  for key, value in given.items())
    page.write_text(f"{before}{BEGIN}\n\nFashion-MNIST, {RANKS} ranks on two cores of one machine, "
                    f"{words}; mean and standard deviation of {seeds} seeds.{own}\n\n{table}\n\n"
                    f"{END}{after}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--experiment", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2] / "examples" /
                        "fashion_mnist.toml")
    given = parser.parse_args()
    given.bin = given.bin.resolve()
    if given.short == bool(given.write):
        parser.error("either --short or --write FILE")
    sys.exit(0 if (short if given.short else compare)(given) else 1)
