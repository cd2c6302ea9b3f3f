"""Starts `parajoule measure` and commands that tell what they see of the world."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

PATIENCE_SECONDS = 60  # for anything that is waited for: a machine under load takes its time

# A command that says when it listens, counts the signals it gets into a file, and ends on a line
# from its input, or with the file.
LISTENER = """
import json, os, signal, sys
counts = {}
def count(number, frame):
    counts[signal.Signals(number).name] = counts.get(signal.Signals(number).name, 0) + 1
    write()
def write():
    size = None
    try:
        size = list(os.get_terminal_size(0))
    except OSError:
        pass
    with open(sys.argv[1] + ".draft", "w") as file:
        json.dump({"pid": os.getpid(), "counts": counts, "size": size}, file)
    os.rename(sys.argv[1] + ".draft", sys.argv[1])
for name in sys.argv[2:]:
    signal.signal(getattr(signal, name), count)
write()
while "TERM" not in "".join(counts) and "USR2" not in "".join(counts) or "stay" in sys.argv[1]:
    signal.pause()
"""


def wait_for(what, condition):
    """Polls until `condition` gives something true, and returns that."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"waited in vain for {what}")


class Bench:
    """A folder of its own, and the program under test."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.started = []

    def words(self, command, options=()):
        return [self.program, "measure", *options, "--", *command]

    def environment(self, more=None):
        everything = dict(os.environ)
        for name in list(everything):
            if name.startswith(("SLURM_", "OMPI_", "PMI", "PARAJOULE_")):
                del everything[name]
        return dict(everything, **(more or {}))

    def start(self, command, options=(), *, words=None, environment=None, **more):
        settings = dict(cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, env=self.environment(environment),
                        restore_signals=False)
        settings.update(more)
        process = subprocess.Popen(words or self.words(command, options), **settings)
        self.started.append(process)
        return process

    def run(self, command, options=(), **more):
        """Status, standard output and standard error."""
        process = self.start(command, options, **more)
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        return process.returncode, output, errors

    def json_of(self, command, options=(), **more):
        """What --json says of a command, whatever its status."""
        file = self.folder / "out.json"
        status, _, errors = self.run(command, [*options, "--json", str(file)], **more)
        assert file.exists(), errors
        return status, json.loads(file.read_text())

    def listener(self, *signals, name="told", **more):
        """A listener that listens already."""
        told = self.folder / name
        process = self.start([sys.executable, "-c", LISTENER, str(told), *signals], **more)
        wait_for("the listener", told.exists)
        return process, lambda: json.loads(told.read_text())

    def records(self, folder="records"):
        return sorted((self.folder / folder).glob("*.db"), key=lambda file: file.stat().st_mtime)

    def tidy(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()


class Record:
    """A record through SQLite alone."""

    def __init__(self, file):
        self.file = file
        database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        database.text_factory = bytes
        assert database.execute("PRAGMA integrity_check").fetchone()[0] == b"ok"
        self.kind, self.state, self.command = database.execute(
            "SELECT kind, state, command FROM run").fetchone()
        self.settings = {key.decode(): value for key, value in
                         database.execute("SELECT key, value FROM setting")}
        self.nodes = database.execute("SELECT node, boot_id FROM node").fetchall()
        self.sources = database.execute("SELECT source, node, device FROM source").fetchall()
        self.readings = database.execute("SELECT source, seconds FROM reading").fetchall()
        self.notes = [text.decode(errors="replace") for text, in
                      database.execute("SELECT text FROM note")]
        database.close()

    def number(self, key):
        return float(self.settings[key])


def sent(process, number, to_group):
    if to_group:
        os.killpg(os.getpgid(process.pid), number)
    else:
        process.send_signal(number)


def own_group():
    os.setpgid(0, 0)


def default_signals():
    """As a shell gives them to its commands: Python itself ignores some."""
    for number in (signal.SIGPIPE, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
