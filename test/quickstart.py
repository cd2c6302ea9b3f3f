#!/usr/bin/env python3
"""Trains the example of ./quickstart and holds what it shows to what is promised: it learns, the
table has its rows, energy is labelled, and a file gets no control characters.

    test/quickstart.py BIN EXAMPLE
"""

import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

MOST_ERROR = 15  # per cent, after one epoch
ROWS = ["wall time", "training samples", "device hours", "samples per device hour",
        "passes per device hour", "energy measured", "energy modelled",
        "kWh per device hour measured", "kWh per device hour modelled",
        "Wh per 1000 samples measured", "Wh per 1000 samples modelled", "data wait", "forward",
        "backward", "exposed communication", "update", "evaluation", "parajoule runs show"]


def check_weights(shown, examples):
    """The table names a checkpoint that the script beside the example reads."""
    checkpoint, = re.findall(r"^(/.*/\d+\.ckpt)$", shown, re.M)
    read = subprocess.run([sys.executable, examples / "read_checkpoint.py", checkpoint],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    arrays = [line.split() for line in read.splitlines()]
    weights = {name: shape for name, kind, shape in arrays
               if name.startswith("model.") and kind == "float32"}
    assert any(shape.startswith("10x") for shape in weights.values()), f"no last layer in {read}"


def main(binaries, example):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([pathlib.Path(binaries).resolve() / "parajoule", "train",
                              pathlib.Path(example).resolve()],
                             cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        shown = run.stdout.decode()
        print(shown)
        assert run.returncode == 0, f"status {run.returncode}"
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", shown), "control characters in a file"
        missing = [row for row in ROWS if row not in shown]
        assert not missing, f"not in the table: {missing}"
        check_weights(shown, pathlib.Path(example).resolve().parent)
        record, = pathlib.Path(folder, "records").glob("*.db")
        (error,), = sqlite3.connect(record).execute(
            "SELECT 100 * numerator / denominator FROM epoch "
            "WHERE metric = 'top1_error' AND \"set\" = 'validation'")
        assert error <= MOST_ERROR, f"top-1 error {error:.2f} %"


main(*sys.argv[1:])
