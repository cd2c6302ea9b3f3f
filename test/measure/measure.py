#!/usr/bin/env python3
"""`parajoule measure` in good and bad circumstances: real commands, signals, terminals.

    measure.py PROGRAM FOLDER CASE    PROGRAM: bin/parajoule; FOLDER: where cases may write
    measure.py --registered CASE...   fails unless these are all the cases

Where a command is to see no difference, the oracle is the same command without us.
"""

import json
import os
import pathlib
import pwd
import resource
import select
import signal
import sqlite3
import sys
import time

import narrow
import terminal
import together
from bench import Bench, Record, default_signals, own_group, sent, wait_for

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

SHELL = "/bin/sh"


def status_of_the_command(bench):
    """The command's own status, whatever it is, and one record each."""
    for status in (0, 1, 7, 126, 255):
        assert bench.run([SHELL, "-c", f"exit {status}"])[0] == status
    assert len(bench.records()) == 5, bench.records()
    assert Record(bench.records()[-1]).settings["status"] == b"255"


def missing(bench):
    """No such command: 127, one line, no table and no record."""
    for name in ("no-such-command", "./no-such-command", ""):
        status, output, errors = bench.run([name])
        assert status == 127, status
        assert output == b"" and errors.count(b"\n") == 1 and name.encode() in errors, errors
    assert not bench.records()


def not_executable(bench):
    """No program: 126."""
    (bench.folder / "text").write_text("echo not run\n")
    for name in ("./text", "/", "./text/below"):
        status, output, errors = bench.run([name])
        assert (status, output) == (126, b""), (name, status, output)
        assert errors.count(b"\n") == 1, errors
    assert not bench.records()


def without_first_line(bench):
    """A script without #! is run by the shell, as shells do."""
    script = bench.folder / "script"
    script.write_text("echo \"$1\"\nexit 3\n")
    script.chmod(0o755)
    assert bench.run(["./script", "word"])[:2] == (3, b"word\n")


def killed(bench):
    """128 + n for a command that signal n killed."""
    for number in (9, 15, 11, 1):
        status, _, errors = bench.run([SHELL, "-c", f"kill -{number} $$"])
        assert status == 128 + number, (number, status)
        assert f"killed by signal {number}".encode() in errors, errors
    record = Record(bench.records()[-1])
    assert record.state == b"done" and record.settings["status"] == b"129"


SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGCONT", "SIGWINCH", "SIGALRM", "SIGTSTP",
           "SIGPIPE"]


def signals(to_group):
    def case(bench):
        process, told = bench.listener(*SIGNALS, "SIGUSR2", preexec_fn=own_group)
        for name in SIGNALS:
            sent(process, getattr(signal, name), to_group)
            wait_for(name, lambda name=name: told()["counts"].get(name))
        sent(process, signal.SIGUSR2, to_group)
        assert process.wait(60) == 0
        assert told()["counts"] == dict.fromkeys([*SIGNALS, "SIGUSR2"], 1), told()
    case.__doc__ = f"each signal to {'the group' if to_group else 'us'} reaches the command once"
    return case


def ended_by_term(bench):
    """TERM ends a command that does not care; the table and the record are there."""
    process, told = bench.listener()
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 143, process.returncode
    assert b"killed by signal 15" in errors, errors
    assert Record(bench.records()[-1]).settings["status"] == b"143"


def exits_on_term(bench):
    """A command that leaves by os._exit when it is told to end keeps its status."""
    ready = bench.folder / "ready"
    process = bench.start([sys.executable, "-c",
                           "import os, signal, sys\n"
                           "signal.signal(signal.SIGTERM, lambda *_: os._exit(1))\n"
                           f"open({str(ready)!r}, 'w').close()\n"
                           "while True: signal.pause()\n"])
    wait_for("the command", ready.exists)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and b"status 1" in errors, errors


def same_without_us(bench, command, **more):
    words = bench.run(command, words=command, **more)
    through = bench.run(command, ["--quiet"], **more)
    assert through == words, (words, through)


def signal_state(bench):
    """What is blocked and ignored is as it was, under nohup and under Python too."""
    def some():
        default_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGRTMIN + 3})
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    for prepare in (default_signals, some, None):
        same_without_us(bench, ["grep", "^Sig[BIC]", "/proc/self/status"], preexec_fn=prepare)


def nohup(bench):
    """Under nohup a hang-up ends neither the command nor us."""
    process, told = bench.listener(
        "SIGUSR2", words=["nohup", bench.program, "measure", "--", sys.executable, "-c",
                          "import bench, sys; exec(bench.LISTENER)", str(bench.folder / "told"),
                          "SIGUSR2"], environment={"PYTHONPATH": os.path.dirname(__file__)})
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR2)
    process.communicate(timeout=60)
    assert process.returncode == 0 and told()["counts"] == {"SIGUSR2": 1}


def files(bench):
    """The command has the files we were given, those alone, and none that was closed."""
    script = "ls -l /proc/self/fd | sed 's/.* \\([0-9]* -> [^ ]*\\)$/\\1/; /proc/d; /^total/d; s/\\[.*//'"
    read, write = os.pipe()
    same_without_us(bench, [SHELL, "-c", script], pass_fds=(read, write))
    for stream in (0, 1, 2):
        close = lambda stream=stream: os.close(stream)
        same_without_us(bench, [SHELL, "-c", f"{script} > list; cat list >&{1 if stream != 1 else 2}"],
                        preexec_fn=close)


def environment(bench):
    """Nothing is changed but for the folder of regions."""
    status, output, _ = bench.run(["env", "-0"], environment={"LC_ALL": "C", "ODD": "a\nb"})
    seen = dict(line.split(b"=", 1) for line in output.split(b"\0") if line)
    given = {name.encode(): value.encode() for name, value in
             bench.environment({"LC_ALL": "C", "ODD": "a\nb"}).items()}
    assert seen.pop(b"PARAJOULE_REGIONS") and seen == given, (seen, given)


def arguments(bench):
    """Words reach the command byte for byte, and the record with them is sound."""
    words = [b"", b"--", b"-h", b"--help", b"[1,2]", b"{a}", b"%d%s", b"a b\nc", b"'\"$x`",
             b"\xff\xfe\x80", "schön€".encode(), b"train", b"--json"]
    show = [sys.executable, "-c", "import os, sys; print([os.fsencode(w) for w in sys.argv[1:]])"]
    program = os.fsencode(bench.program)
    for separator in ([b"--"], []):
        status, output, errors = bench.run(
            [], words=[program, b"measure", *separator, *map(os.fsencode, show), *words])
        assert status == 0, errors
        assert output.decode().strip() == repr(words), output
    assert b"\xff" in Record(bench.records()[-1]).command
    for more in (["list"], ["show", "last"], ["export", "--json"],
                 ["export", "--csv", "--table", "run"]):
        status, output, errors = bench.run([], words=[bench.program, "runs", *more])
        assert status == 0 and output, (more, errors)
        output.decode()  # is UTF-8
    assert bench.json_of(["true", b"\xff"])[1]["command"].endswith("'")


def no_command(bench):
    """Nothing to run, and options that are none: status 2 and one line, nothing started."""
    for options in ([], ["--rate", "0"], ["--rate", "2khz"], ["--rate", "ten"], ["--idle", "-1s"],
                    ["--idle", "1h"], ["--pue", "0.5"], ["--price", "nan"], ["--no-such"]):
        command = [] if not options else ["touch", "started"]
        status, output, errors = bench.run(command, options)
        assert status == 2 and errors.count(b"\n") == 1, (options, errors)
    assert not (bench.folder / "started").exists() and not bench.records()


def commas(bench):
    """Numbers have points in every locale."""
    _, numbers = bench.json_of(["sleep", "0.2"], ["--csv", "rows.csv"],
                               environment={"LC_ALL": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"})
    assert numbers["wall_seconds"] > 0.1
    header, *rows = (bench.folder / "rows.csv").read_text().splitlines()
    assert rows and all(len(row.split(",")) >= len(header.split(",")) for row in rows)


def unwritable_folders(bench):
    """Home and folder that cannot be written: the command runs, and one line says where the record
    is."""
    closed = bench.folder / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    spare = bench.folder / "spare"
    spare.mkdir()
    spare.chmod(0o1777)
    user = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
    for folder in (bench.folder, *bench.folder.parents):
        if user is not None and not os.stat(folder).st_mode & 0o005:
            os.chmod(folder, os.stat(folder).st_mode | 0o005)  # or nobody does not even get there
    status, output, errors = bench.run(
        [SHELL, "-c", "echo out; exit 5"], ["--quiet"], cwd=closed, user=user,
        environment={"HOME": str(closed), "TMPDIR": str(spare)})
    assert (status, output) == (5, b"out\n"), (status, output, errors)
    assert errors.count(b"\n") == 1 and str(spare).encode() in errors, errors
    assert len(list(spare.glob("*.db"))) == 1 and not list(closed.iterdir())


def unwritable_outputs(bench):
    """Each output that cannot be written is one line; the others are written, the status kept."""
    for bad in ("no/such/folder", "/dev/full", "."):
        status, output, errors = bench.run(
            [SHELL, "-c", "echo out; exit 4"],
            ["--output", bad, "--json", bad, "--csv", bad])
        assert (status, output) == (4, b"out\n"), (bad, status, errors)
        assert errors.count(b"\n") == 3 and errors.count(bad.encode()) == 3, errors
    status, _, _ = bench.run([SHELL, "-c", "exit 4"], ["--output", "table", "--json", "no/x"])
    assert status == 4 and "measured" in (bench.folder / "table").read_text()
    # Nobody reads the table, or there is nowhere to write it.
    assert bench.run([SHELL, "-c", "exit 4"], preexec_fn=lambda: os.close(2))[0] == 4


def odd_outputs(bench):
    """A FIFO that nobody reads is one line each and waited for by nobody; a link stays one."""
    os.mkfifo(bench.folder / "fifo")
    status, _, errors = bench.run([SHELL, "-c", "exit 4"], [
        word for option in ("output", "json", "csv", "prometheus")
        for word in (f"--{option}", "fifo")])
    assert status == 4 and errors.count(b"nobody reads it\n") == 4, (status, errors)
    (bench.folder / "link").symlink_to("file")
    assert bench.run(["sleep", "0.3"], ["--quiet", "--prometheus", "link"])[0] == 0
    assert (bench.folder / "link").is_symlink() and (bench.folder / "file").stat().st_size > 0
    for option in ("output", "json", "csv", "prometheus"):
        status, output, errors = bench.run(["echo", "out"], [f"--{option}", ""])
        assert (status, output) == (2, b"") and b"needs a name" in errors, (status, errors)


def limited_files(bench):
    """What is raised where our own writes fail never reaches the command."""
    def limited():
        default_signals()
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
    status, output, errors = bench.run([SHELL, "-c", "echo out; exit 4"], preexec_fn=limited)
    assert (status, output) == (4, b"out\n"), (status, output, errors)
    assert b"parajoule: " in errors, errors


def odd_regions(bench):
    """What the command leaves among the regions is waited for by nobody."""
    status, _, errors = bench.run(
        [SHELL, "-c", "mkfifo $PARAJOULE_REGIONS/88; ln -s /dev/zero $PARAJOULE_REGIONS/89; exit 8"])
    assert status == 8 and b"no plain file" in errors and b"is a link" in errors, (status, errors)


def without_proc(bench):
    """No /proc: the command runs all the same."""
    words = ["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", SHELL, "-c",
             "mount -t tmpfs none /proc && exec \"$@\"", "sh", bench.program, "measure", "--",
             SHELL, "-c", "echo out; exit 6"]
    status, output, errors = bench.run([], words=words)
    assert (status, output) == (6, b"out\n"), (status, output, errors)
    assert b"measured" in errors and b"none" in errors, errors


def unreadable_meter(bench):
    """A meter that nobody may read: named with its remedy, its energy none and not 0."""
    zone = bench.folder / "class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("max_energy_range_uj", "262143328850"),
                       ("energy_uj", "1000000")):
        (zone / name).write_text(text + "\n")
    (zone / "energy_uj").chmod(0)
    words = ["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", SHELL, "-c",
             "mount --bind class /sys/class && exec setpriv --bounding-set=-all -- \"$@\"", "sh",
             bench.program, "measure", "--json", "out.json", "--", SHELL, "-c", "echo out; exit 6"]
    status, output, errors = bench.run([], words=words)
    assert (status, output) == (6, b"out\n"), (status, output, errors)
    text = b" ".join(errors.split())
    assert b"cpu package 0" in text and b"Permission denied" in text, errors
    assert b"sudo chmod a+r" in text, errors
    numbers = json.loads((bench.folder / "out.json").read_text())
    assert numbers["totals"]["measured"] is None, numbers["totals"]
    assert not any(one["device"].startswith("package") for one in numbers["devices"]), numbers


def two_at_once(bench):
    """Two meters at once, and one within the other: each has its record and its status."""
    both = [bench.start([SHELL, "-c", f"sleep 0.2; exit {status}"]) for status in (1, 2)]
    assert [process.wait(60) for process in both] == [1, 2]
    assert len(bench.records()) == 2
    assert bench.run([bench.program, "measure", "--", SHELL, "-c", "exit 3"])[0] == 3
    assert len(bench.records()) == 4


BURN = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"


def daemon_within(bench):
    """A process that the command loses: what it computes meanwhile counts."""
    _, plain = bench.json_of([SHELL, "-c", "true"])
    # Until it is reaped, which only the meter can do, its number is taken.
    _, numbers = bench.json_of(
        [SHELL, "-c", f"(setsid {SHELL} -c '{BURN}' & echo $! >number); "
                      "while kill -0 $(cat number) 2>/dev/null; do sleep 0.01; done"])
    assert numbers["cpu_seconds"] > plain["cpu_seconds"] + 0.05, (plain, numbers)


def daemon_beyond(bench):
    """One that outlives the command is told, neither waited for nor killed."""
    fifo = bench.folder / "fifo"
    os.mkfifo(fifo)
    status, _, errors = bench.run(
        [SHELL, "-c", f"setsid {SHELL} -c 'exec >/dev/null 2>&1; read x <{fifo}; touch late' & "
                      "exit 9"], stdout=None)
    assert status == 9 and b"outlived the command" in errors, errors
    assert not (bench.folder / "late").exists()
    fifo.write_text("go\n")  # it still reads
    wait_for("the daemon", (bench.folder / "late").exists)


def many_children(bench):
    """A burst of children, a third of them orphans: all are reaped, the status is the command's."""
    script = ("i=0; while [ $i -lt 300 ]; do (:) & (: &) ; i=$((i+1)); done; wait; "
              "ps -o stat= --ppid $PPID | grep -c Z; exit 8")
    status, output, errors = bench.run([SHELL, "-c", script])
    assert status == 8, errors
    assert int(output) <= 3, f"{output}: zombies are not reaped"


def killed_meter(bench):
    """kill -9 of us: the command goes on, the record can be read and lacks a moment at most."""
    process, told = bench.listener("SIGUSR2", options=["--rate", "50hz"])
    record = wait_for("a record", bench.records)[0]
    wait_for("readings", lambda: len(Record(record).readings) > 100)
    process.kill()
    killed_at = time.clock_gettime(time.CLOCK_MONOTONIC)
    process.wait()
    status, output, errors = bench.run([], words=[bench.program, "runs", "show", "last"])
    assert status == 0 and b"killed" in output, output + errors
    found = Record(record)
    last = found.number("clock") + max(seconds for _, seconds in found.readings)
    assert killed_at - last < 1 + 2, "a second, and what a busy machine adds"
    os.kill(told()["pid"], signal.SIGUSR2)  # it lives
    wait_for("the command", lambda: told()["counts"])


def pipelines(bench):
    """Between pipes nothing is lost, late or held open."""
    program = f"{bench.program} measure --quiet --"
    for line, expected in (
            (f"printf 'a\\nb\\n' | {program} cat | sort -r", b"b\na\n"),
            (f"yes | {program} head -n 2", b"y\ny\n"),
            (f"bash -c 'set -o pipefail; {program} yes | head -n 1; echo $?'", b"y\n141\n")):
        assert bench.run([], words=["bash", "-c", line], preexec_fn=default_signals)[1] == expected
    # What the command closes ends for its reader, though we are still there.
    os.mkfifo(bench.folder / "fifo")
    process = bench.start([SHELL, "-c", "exec >&-; read line <fifo; exit 3"], ["--quiet"])
    assert select.select([process.stdout], [], [], 60)[0] and process.stdout.read() == b""
    (bench.folder / "fifo").write_text("go\n")
    assert process.wait(60) == 3


def idle(bench):
    """Energy above that of the machine before; ended by TERM the command is never started."""
    _, numbers = bench.json_of(["sleep", "0.3"], ["--idle", "300ms"])
    for device in numbers["devices"]:
        if device["counted"]:
            assert abs(device["above_idle"]["energy_joules"]) < device["energy_joules"] + 1
    assert numbers["above_idle"] is not None and numbers["nodes"][0]["idle_seconds"] > 0.29
    before = len(bench.records())
    process = bench.start(["touch", "started"], ["--idle", "1000s"])
    wait_for("readings", lambda: len(bench.records()) > before)
    process.terminate()
    assert process.wait(60) == 143
    assert not (bench.folder / "started").exists() and len(bench.records()) == before


def regions(bench):
    """Regions that tile the run have its energy, whatever their names."""
    script = """
import os, time
def now(): return f"{time.clock_gettime(time.CLOCK_MONOTONIC):.9f}"
with open(os.path.join(os.environ["PARAJOULE_REGIONS"], str(os.getpid())), "w") as file:
    begin = now()
    file.write(f"B 1 {begin} whole\\nB 2 {begin} first%2C%22%0Aone\\n")
    time.sleep(0.3)
    middle = now()
    file.write(f"E 2 {middle}\\nB 3 {middle} second\\n")
    time.sleep(0.3)
    end = now()
    file.write(f"E 3 {end}\\nE 1 {end}\\nB 4 {end} open\\nno line\\nB 5 {end} torn")
"""
    _, numbers = bench.json_of([sys.executable, "-c", script])
    found = {region["name"]: region for region in numbers["regions"]}
    assert list(found) == ["whole", 'first,"\none', "second", "open"], found
    for i, energy in enumerate(found["whole"]["energies"]):
        if energy["energy_joules"] is None:
            continue
        parts = sum(found[name]["energies"][i]["energy_joules"] for name in
                    ('first,"\none', "second"))
        assert abs(parts - energy["energy_joules"]) < 1e-6 * energy["energy_joules"], found
    notes = json.dumps(numbers["notes"])
    assert "not ended" in notes and "could not be read" in notes, notes


def outputs(bench):
    """JSON as its schema says; CSV with whole rows; no number over rows of different labels."""
    status, numbers = bench.json_of(["sleep", "0.3"], ["--pue", "1.5", "--carbon", "400",
                                                       "--price", "0.3", "--csv", "rows.csv"])
    schema = json.loads((pathlib.Path(__file__).parents[2] / "docs" /
                         "measure.schema.json").read_text())
    check(numbers, schema, schema, "out.json")
    stored = pathlib.Path(__file__).with_name("version1.json")
    check(json.loads(stored.read_text()), schema, schema, stored.name)
    for label in ("measured", "modelled"):
        energies = [device["energy_joules"] for device in numbers["devices"]
                    if device["label"] == label and device["counted"]]
        total = numbers["totals"][label]
        assert (total is None) == (not energies), numbers
        if energies:
            assert abs(total["energy_joules"] - sum(energies)) < 1e-9 * sum(energies), numbers
    assert len(numbers["converted"]) == 3
    assert [line.startswith("metering took ") for line in numbers["metering_cost"]] == [True]


def check(value, schema, whole, place):
    """As much of JSON Schema as ours uses."""
    if "$ref" in schema:
        return check(value, whole["$defs"][schema["$ref"].split("/")[-1]], whole, place)
    known = {"$schema", "$id", "title", "description", "$defs", "type", "properties", "required",
             "additionalProperties", "items", "enum", "const", "anyOf", "minimum"}
    assert set(schema) <= known, f"{place}: the check does not know {set(schema) - known}"
    if "anyOf" in schema:
        for one in schema["anyOf"]:
            try:
                return check(value, one, whole, place)
            except AssertionError:
                pass
        raise AssertionError(f"{place}: {value!r} is none of {schema['anyOf']}")
    kinds = {"object": dict, "array": list, "string": str, "null": type(None),
             "boolean": bool, "number": (int, float), "integer": int}
    if "type" in schema:
        kind = kinds[schema["type"]]
        assert isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), \
            f"{place}: {value!r} is no {schema['type']}"
    assert "const" not in schema or value == schema["const"], f"{place}: {value!r}"
    assert "enum" not in schema or value in schema["enum"], f"{place}: {value!r}"
    assert value >= schema.get("minimum", value) if "minimum" in schema else True, place
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        assert set(schema.get("required", [])) <= set(value), \
            f"{place} lacks {set(schema['required']) - set(value)}"
        for name, each in value.items():
            rule = properties.get(name, schema.get("additionalProperties", True))
            assert rule is not False, f"{place}: {name} is not in the schema"
            if rule is not True:
                check(each, rule, whole, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, each in enumerate(value):
            check(each, schema["items"], whole, f"{place}[{i}]")


def where_the_record_is(bench):
    """What is told to be the record is the file itself, whatever led there."""
    (bench.folder / "real").mkdir()
    (bench.folder / "link").symlink_to("real")
    _, told = bench.json_of(["true"], ["--records", "link"])
    assert os.path.realpath(told["record"]) == told["record"], told["record"]
    assert Record(told["record"]).state == b"done"


def recomputed(bench):
    """The readings give again what was told; a reading that was changed is found."""
    assert bench.run(["sleep", "0.3"], ["--rate", "100hz"])[0] == 0
    again = [bench.program, "runs", "recompute"]
    status, output, errors = bench.run([], words=again)
    assert status == 0 and b"Every number is what was told." in output, (status, output, errors)
    database = sqlite3.connect(bench.records()[-1])
    database.execute("UPDATE reading SET value = value + 1 WHERE source IN (SELECT source FROM "
                     "source WHERE quantity IN ('energy', 'power')) AND rowid IN (SELECT "
                     "max(rowid) FROM reading GROUP BY source)")
    database.commit()
    database.close()
    status, output, errors = bench.run([], words=again)
    assert status == 1 and b"differ from what was told" in output, (status, output, errors)


def wall(bench):
    """A wall meter's file is a total beside the others; a bad one is a line and costs nothing."""
    now = time.time()
    host = os.uname().nodename.split(".")[0]
    with open(bench.folder / f"wall-{host}.csv", "w") as file:
        file.write("# outlet: A7\ntime,watts\n")
        for tenth in range(-50, 600):
            file.write(f"{now + tenth / 10},300\n")
    status, told = bench.json_of(["sleep", "1"], ["--wall", "wall-{host}.csv"])
    assert status == 0
    outlet, = [one for one in told["nodes"][0]["wholes"] if one["device"] == "outlet A7"]
    assert abs(outlet["energy_joules"] - 300 * told["wall_seconds"]) < 3, outlet
    assert not any(one["counted"] for one in told["devices"] if one["device"] == "outlet A7")
    (bench.folder / "bad.csv").write_text("nothing\n")
    status, _, errors = bench.run([SHELL, "-c", "sleep 0.5; exit 7"],
                                  ["--quiet", "--wall", "bad.csv"])
    assert status == 7 and errors.count(b"\n") == 1 and b"bad.csv" in errors, (status, errors)
    joined = bench.run([], words=[bench.program, "runs", "join", "last", "--wall",
                                  f"wall-{host}.csv"])
    assert joined[0] == 0 and b"outlet A7" in joined[1], joined
    twice = bench.run([], words=[bench.program, "runs", "join", "last", "--wall",
                                 f"wall-{host}.csv"])
    assert twice[0] == 2 and twice[2].count(b"\n") == 1, twice


CASES = {
    "status": status_of_the_command,
    "missing": missing,
    "not_executable": not_executable,
    "without_first_line": without_first_line,
    "killed": killed,
    "signals_to_us": signals(False),
    "signals_to_the_group": signals(True),
    "ended_by_term": ended_by_term,
    "exits_on_term": exits_on_term,
    "signal_state": signal_state,
    "nohup": nohup,
    "files": files,
    "environment": environment,
    "arguments": arguments,
    "no_command": no_command,
    "commas": commas,
    "unwritable_folders": unwritable_folders,
    "unwritable_outputs": unwritable_outputs,
    "odd_outputs": odd_outputs,
    "limited_files": limited_files,
    "odd_regions": odd_regions,
    "without_proc": without_proc,
    "unreadable_meter": unreadable_meter,
    "two_at_once": two_at_once,
    "daemon_within": daemon_within,
    "daemon_beyond": daemon_beyond,
    "many_children": many_children,
    "killed_meter": killed_meter,
    "pipelines": pipelines,
    "idle": idle,
    "regions": regions,
    "outputs": outputs,
    "where_the_record_is": where_the_record_is,
    "recomputed": recomputed,
    "wall": wall,
    **narrow.CASES,
    **terminal.CASES,
    **together.CASES,
}


if __name__ == "__main__":
    cases.run(CASES, Bench, sys.argv[1:])
