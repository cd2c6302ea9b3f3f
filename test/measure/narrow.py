"""Little room: few files, no folder for temporary files, full disks, many processes left over."""

import json
import os
import pathlib
import resource
import sqlite3
import sys

from bench import Record, default_signals

SHELL = "/bin/sh"


def unshared(script, words):
    """In a world of its own, in which the script may mount."""
    return ["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", SHELL, "-c",
            script + ' && exec "$@"', "sh", *words]


def few_files(bench):
    """Where hardly a file can be opened the command starts as it does without us."""
    for most in (8, 10, 12, 20):
        def limited(most=most):
            default_signals()
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        command = [SHELL, "-c", "ulimit -n; exit 4"]
        plain = bench.run(command, words=command, preexec_fn=limited)
        status, output, errors = bench.run(command, preexec_fn=limited)
        assert (status, output) == plain[:2], (most, status, output, errors)
        assert errors, "a table, or what keeps us from one"


def tmpdir(bench):
    """A TMPDIR that is none costs nothing; where it is needed it is named and another taken."""
    (bench.folder / "plain").write_text("no folder")
    closed = "/proc/no-folder-of-records"
    for bad in ("/no/such/folder", str(bench.folder / "plain")):
        environment = {"TMPDIR": bad}
        status, _, errors = bench.run([SHELL, "-c", "exit 4"], environment=environment)
        assert status == 4 and b"modelled" in errors and b"TMPDIR" not in errors, errors
        status, _, errors = bench.run([SHELL, "-c", "exit 4"], ["--quiet", "--records", closed],
                                      environment=environment)
        assert status == 4 and errors.count(b"\n") == 1, errors
        assert bad.encode() in errors and closed.encode() in errors, errors
        kept = pathlib.Path(errors.decode().split("it is kept as ")[1].strip())
        assert Record(kept).state == b"done"
        kept.unlink()


def full_disks(bench):
    """Records and all folders for temporary files are full: the table is there, from memory."""
    script = ("for f in full /tmp /var/tmp; do mount -t tmpfs -o size=64k none $f; "
              "head -c 100k /dev/zero >$f/fill 2>/dev/null; done; true")
    (bench.folder / "full").mkdir()
    command = [SHELL, "-c", "sleep 0.3; exit 5"]
    words = unshared(script, bench.words(command, ["--records", "full", "--json", "out.json"]))
    status, _, errors = bench.run([], words=words, environment={"TMPDIR": "/tmp"})
    assert status == 5, (status, errors)
    numbers = json.loads((bench.folder / "out.json").read_text())
    assert numbers["status"] == 5 and numbers["wall_seconds"] > 0.29, numbers
    assert b"status 5" in errors and b"it is kept as /dev/shm/" in errors, errors
    kept = pathlib.Path(numbers["record"])
    assert Record(kept).state == b"done"
    kept.unlink()


def many_left(bench):
    """However many processes a command leaves, it is one line."""
    script = "i=0; while [ $i -lt 60 ]; do sleep 100 >/dev/null 2>&1 & i=$((i+1)); echo $!; done"
    status, output, errors = bench.run([SHELL, "-c", script])
    for number in output.split():
        os.kill(int(number), 9)
    text = b" ".join(errors.split())
    assert status == 0 and text.count(b"outlived the command") == 1, errors
    assert b"60 processes outlived" in text and b"sleep (60 times)" in text, errors


def python_exits(bench):
    """A script that leaves by sys.exit has its table at once; nothing is left beside it."""
    folder = bench.folder / "scripts"
    folder.mkdir()
    for status in (0, 3):
        script = folder / f"exits{status}"
        script.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({status})\n")
        script.chmod(0o755)
        for command in ([sys.executable, "-B", str(script)], [str(script)]):
            got, _, errors = bench.run(command, ["--name", "true"])
            assert got == status and b"modelled" in errors, (command, got, errors)
    assert sorted(path.name for path in folder.iterdir()) == ["exits0", "exits3"]
    assert len(bench.records()) == 4
    names = {sqlite3.connect(file).execute("SELECT name FROM run").fetchone()[0]
             for file in bench.records()}
    assert names == {"true"}, "the name of a run is not a command"


def conversions(bench):
    """What was given to convert with is kept, and shown again with the run."""
    _, numbers = bench.json_of(["sleep", "0.2"], ["--pue", "1.5", "--price", "0.3"])
    amounts = numbers["conversions"]["amounts"]
    assert {one["what"] for one in amounts} == {"energy_with_pue", "cost"}, numbers["conversions"]
    for one in amounts:
        total = numbers["totals"][one["label"]]["energy_kilowatt_hours"]
        factor = 1.5 if one["what"] == "energy_with_pue" else 0.45
        assert abs(one["value"] - factor * total) < 1e-9 * total, (one, total)
    shown = bench.run([], words=[bench.program, "runs", "show", "last"])[1]
    assert b"with PUE 1.5" in shown and b"cost at 0.3" in shown, shown


def doctor_without_proc(bench):
    """doctor and sensors without /proc: they say so, and promise no model."""
    for command in ("doctor", "sensors"):
        status, output, errors = bench.run(
            [], words=unshared("mount -t tmpfs none /proc", [bench.program, command]))
        assert b"filesystem error" not in errors and output, (command, status, errors)
        assert (b"mount -t proc" in output) == (command == "doctor"), output
        assert b"will be modelled" not in output, output


CASES = {"few_files": few_files, "tmpdir": tmpdir, "full_disks": full_disks,
         "many_left": many_left, "python_exits": python_exits, "conversions": conversions,
         "doctor_without_proc": doctor_without_proc}
