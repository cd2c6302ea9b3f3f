"""Starts real runs in a folder of their own, breaks them, and looks at what is left."""

import contextlib
import datetime
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import time
import zlib

MOMENT_SECONDS = 3
START_SECONDS = 100  # a machine under load takes its time to start two ranks


def write_idx(path, extents, values):
    header = bytes([0, 0, 8, len(extents)]) + struct.pack(f">{len(extents)}I", *extents)
    path.write_bytes(header + bytes(values))


def write_pictures(folder):
    """A data set that loads at once: bright stripes whose place is the class, and noise."""
    state = 1
    for part, count in (("train", 640), ("t10k", 200)):
        pixels, labels = [], []
        for sample in range(count):
            label = sample * 7 % 4
            for row in range(8):
                for _ in range(8):
                    state = state * 1103515245 + 12345 & 0x7fffffff
                    pixels.append((state >> 16) % 120 + (130 if row // 2 == label else 0))
            labels.append(label)
        write_idx(folder / f"{part}-images-idx3-ubyte", (count, 8, 8), pixels)
        write_idx(folder / f"{part}-labels-idx1-ubyte", (count,), labels)


def write_png(path, size, level):
    """A grey picture of one brightness, by the format's specification."""
    def chunk(kind, content):
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
    rows = (b"\0" + bytes([level]) * size) * size
    path.write_bytes(b"\x89PNG\r\n\x1a\n"
                     + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_picture_files(folder, broken):
    """Two classes of files; the picture `broken` is cut short."""
    for part, count in (("train", 40), ("val", 4)):
        for label in (0, 1):
            place = folder / part / f"class{label}"
            place.mkdir(parents=True)
            for sample in range(count):
                write_png(place / f"{sample}.png", 16, 60 + 120 * label + sample)
    whole = (folder / broken).read_bytes()
    (folder / broken).write_bytes(whole[:len(whole) // 2])


EXPERIMENT = """
version = 1
name = "fault"
seed = 7
model = "mlp"
data = "idx"
ranks = 2
local_batch_size = 32
epochs = 6          # of ten steps each
checkpoint_every_steps = 7
evaluation_batch_size = 25

[mlp]
hidden = [32]

[idx]
folder = "{folder}"
flip = true
random_crop = 1
"""


def name_of(process):
    try:
        return f"{process} " + " ".join(
            word.decode(errors="replace")
            for word in pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[:4])
    except OSError:
        return f"{process}, gone meanwhile"


class Bench:
    """A folder with an experiment in it, and the program under test."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        write_pictures(self.folder)
        self.file = self.folder / "fault.toml"
        self.file.write_text(EXPERIMENT.format(folder=self.folder))
        self.mark = self.folder / "mark"

    def start(self, *, fault=None, settings=(), environment=None, command=None):
        words = command or [self.program, "train", str(self.file)]
        words = words + [f"--set={setting}" for setting in settings]
        everything = dict(os.environ, **(environment or {}))
        everything.pop("PARAJOULE_RECORDS", None)
        if fault:
            self.mark.unlink(missing_ok=True)
            everything["PARAJOULE_FAULT"] = f"{fault} mark={self.mark}"
        return Run(self, words, everything)

    def run(self, **options):
        return self.start(**options).end()

    # What is left in the folder.

    def newest_checkpoint(self):
        files = [file for file in self.folder.glob("checkpoints/**/*.ckpt")
                 if file.name.count(".") == 1]
        return max(files, key=lambda file: int(file.stem), default=None)

    def records(self):
        return sorted(self.folder.glob("records/*.db"), key=lambda file: file.stat().st_mtime)

    def processes(self):
        """Ids of all processes that were started here and still are."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if pathlib.Path(os.readlink(process / "cwd")) == self.folder.resolve():
                    found.append(int(process.name))
            except OSError:
                pass  # it has ended meanwhile
        return found

    def ranks(self):
        """Process ids of the ranks under way here: {rank: id}."""
        found = {}
        for process in self.processes():
            try:
                words = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
                name = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0]
            except OSError:
                continue
            for word in words:
                if word.startswith(b"OMPI_COMM_WORLD_RANK=") and b"parajoule-train" in name:
                    found[int(word.split(b"=")[1])] = process
        return found

    def wait_for_steps(self, steps):
        """Until the record has so many of each rank."""
        began = time.monotonic()
        while time.monotonic() - began < START_SECONDS:
            time.sleep(0.05)
            try:
                done = [Record(path).steps for path in self.records()]
            except sqlite3.OperationalError:
                continue  # it is being made
            if done and all(sum(r == rank for r, _ in done[-1]) >= steps for rank in (0, 1)):
                return
        raise AssertionError(f"no {steps} steps of both ranks within {START_SECONDS} s")

    def tidy(self):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):  # its parent was quicker
                os.kill(process, signal.SIGKILL)


class Run:
    def __init__(self, bench, words, environment):
        self.bench = bench
        self.output = bench.folder / "output"
        self.began = time.monotonic()
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(words, cwd=bench.folder, env=environment,
                                            stdout=output, stderr=subprocess.STDOUT)

    def wait_for_mark(self):
        """Until the fault has struck."""
        while not self.bench.mark.exists():
            assert self.process.poll() is None, f"ended before the fault:\n{self.text()}"
            assert time.monotonic() - self.began < START_SECONDS, "the fault never struck"
            time.sleep(0.01)
        self.struck = time.monotonic()

    def tell(self, number):
        self.process.send_signal(number)

    def end(self, seconds=START_SECONDS):
        """The run after its end, which must come within `seconds`."""
        try:
            self.process.wait(seconds)
            self.ended = time.monotonic()
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not end within {seconds} s:\n{self.text()}") from None
        left = self.bench.processes()
        while left and time.monotonic() - self.ended < MOMENT_SECONDS:  # daemons of MPI follow
            time.sleep(0.05)
            left = self.bench.processes()
        assert not left, f"processes outlive the launcher: {[name_of(each) for each in left]}"
        return self

    def text(self):
        return self.output.read_text(errors="replace")

    def ended_with(self, status, *words):
        """The status, and one line of the output that holds all the words."""
        text = self.text()
        assert self.process.returncode == status, \
            f"status {self.process.returncode}, not {status}:\n{text}"
        lines = [line for line in text.splitlines() if all(word in line for word in words)]
        assert lines, f"no line with {words}:\n{text}"
        if words:
            assert len(lines) == 1, f"more than one line with {words}:\n{text}"
        return self


    def table_line(self, name):
        """The rest of the one line of the final table that begins with `name`."""
        lines = [line for line in self.text().splitlines() if line.startswith(name)]
        assert len(lines) == 1, f"{name}: {lines}\n{self.text()}"
        return lines[0][len(name):].strip()


class Record:
    """A record read by SQLite alone."""

    def __init__(self, path):
        self.path = path
        self.id = path.stem.rsplit("-", 1)[1]
        database = sqlite3.connect(path)
        self.integrity = database.execute("PRAGMA integrity_check").fetchone()[0]
        self.state = database.execute("SELECT state FROM run").fetchone()[0]
        self.started = datetime.datetime.fromisoformat(
            database.execute("SELECT started_utc FROM run").fetchone()[0].replace("Z", "+00:00"))
        self.steps = database.execute("SELECT rank, step FROM step ORDER BY rank, step").fetchall()
        self.settings = dict(database.execute("SELECT key, value FROM setting"))
        ends = database.execute("SELECT rank, seconds FROM step ORDER BY rank, step").fetchall()
        self.last_seconds = dict(ends)
        self.longest_step = max((  # of the ten last ones of each rank
            mine[i] - mine[i - 1] for mine in ([s for r, s in ends if r == rank] for rank in (0, 1))
            for i in range(max(1, len(mine) - 10), len(mine))), default=0)
        self.notes = [text for text, in database.execute("SELECT text FROM note")]
        self.epochs = database.execute("SELECT count(*) FROM epoch").fetchone()[0]
        self.evaluated = {samples for samples, in database.execute(
            "SELECT denominator FROM epoch")}
        database.close()

    def is_whole(self):
        """Readable, and the steps of each rank without a gap."""
        assert self.integrity == "ok", f"{self.path}: {self.integrity}"
        for rank in (0, 1):
            steps = [step for r, step in self.steps if r == rank]
            if steps:
                assert steps == list(range(steps[0], steps[0] + len(steps))), f"rank {rank}: {steps}"
        return self
