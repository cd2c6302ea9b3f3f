#!/usr/bin/python3
"""Pictures a second of one core: ours beside PIL and torchvision, on the same files and crops.

    bench/jpeg.py [--program build/bench/src/data/show_pictures] [--pictures FOLDER] [--json FILE]

Reads each file, decodes it, crops, resizes to 224x224 antialiased, mirrors half, normalises. First
what both make of every sample is compared; then both are timed in turn, one thread each, on one
core. Needs Debian's python3-pil, python3-torchvision and python3-numpy. FOLDER holds CLASS/FILE;
without it, the photographs of 500x375 pixels or so that Debian's libdlib19.1 has for an example.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torchvision.transforms.functional as transform
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
SIZE, SHORTER_SIDE = 224, 256
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
REPEATS = 9
COPIES = 8  # of each photograph, so that one run takes a while and sees many crops
PACKAGE = "libdlib19.1"


def photographs(folder):
    """Debian's own photographs, several names for each file."""
    subprocess.run(["apt-get", "download", PACKAGE], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    package = next(folder.glob(f"{PACKAGE}_*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, folder / "unpacked"], check=True)
    found = sorted((folder / "unpacked").glob("usr/share/doc/*/examples/faces/20*.jpg"))
    if not found:
        sys.exit(f"jpeg.py: {PACKAGE} has no photographs any more; give --pictures FOLDER")
    (folder / "pictures/class").mkdir(parents=True)
    for file in found:
        for copy in range(COPIES):
            os.link(file, folder / f"pictures/class/{file.stem}_{copy}.jpg")
    return folder / "pictures"


def describe(folder):
    files = sorted(folder.glob("*/*"))
    sizes = [Image.open(file).size for file in files]
    mean = [statistics.mean(side) for side in zip(*sizes)]
    kilobytes = statistics.mean(file.stat().st_size for file in files) / 1e3
    print(f"{len(files)} samples, {mean[0]:.0f} x {mean[1]:.0f} pixels and {kilobytes:.0f} kB "
          "on average")


class Ours:
    def __init__(self, program, pictures, scratch):
        self.scratch = scratch
        self.process = subprocess.Popen(
            [program, pictures, str(SIZE), str(SHORTER_SIDE)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def samples(self):
        line = self.ask("samples 0")
        found = []
        while line:
            words = line.split("\t")
            found.append((words[0], *map(int, words[1:])))
            line = self.process.stdout.readline().strip()
        return found

    def pictures(self):
        assert self.ask(f"write 0 {self.scratch / 'out'}") == "written"
        return np.fromfile(self.scratch / "out", np.float32).reshape(-1, 3, SIZE, SIZE)

    def seconds(self):
        return map(float, self.ask("time 0").split())


def peer(sample):
    path, left, top, width, height, mirrored, _ = sample
    picture = Image.open(path).convert("RGB")
    picture = transform.resized_crop(picture, top, left, height, width, [SIZE, SIZE])
    if mirrored:
        picture = transform.hflip(picture)
    return transform.normalize(transform.to_tensor(picture), MEAN, DEVIATION)


def peer_seconds(samples):
    used, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    for sample in samples:
        peer(sample)
    now = resource.getrusage(resource.RUSAGE_SELF)
    return (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime,
            time.perf_counter() - began)


def compare(samples, ours):
    deviation = np.array(DEVIATION).reshape(3, 1, 1)
    means, most = [], 0
    for sample, got in zip(samples, ours.pictures(), strict=True):
        difference = np.abs((got - peer(sample).numpy()) * deviation) * 255
        means.append(difference.mean())
        most = max(most, difference.max())
    print(f"difference of the output: mean {np.mean(means):.3f}, of the worst sample "
          f"{max(means):.3f}, of the worst value {most:.2f} of 255")
    if max(means) > 1:
        sys.exit("jpeg.py: the outputs are not equal; nothing was timed")
    return float(np.mean(means))


def line(name, rates):
    print(f"{name:24} {statistics.median(rates):7.0f} pictures/s   "
          f"({min(rates):.0f} ... {max(rates):.0f})")


def ratio(ours, theirs):
    """Median of the ratios of neighbouring runs, and the interval that 95 % of bootstraps give."""
    ratios = np.array(ours) / np.array(theirs)
    draws = np.random.default_rng(0).choice(ratios, (10000, len(ratios)))
    low, high = np.percentile(np.median(draws, 1), [2.5, 97.5])
    return float(np.median(ratios)), float(low), float(high)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--program", default=ROOT / "build/bench/src/data/show_pictures")
    words.add_argument("--pictures", type=Path)
    words.add_argument("--json", type=Path)
    given = words.parse_args()
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # the child inherits it
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        pictures = given.pictures or photographs(scratch)
        describe(pictures)
        ours = Ours(given.program, pictures, scratch)
        samples = ours.samples()
        difference = compare(samples, ours)
        runs = []
        for _ in range(REPEATS):
            runs.append((*ours.seconds(), *peer_seconds(samples)))
        rates = [[len(samples) / seconds for seconds in column] for column in zip(*runs)]
    print("by the time of the processor:")
    line("ours", rates[0])
    line("PIL and torchvision", rates[2])
    by_processor, by_clock = ratio(rates[0], rates[2]), ratio(rates[1], rates[3])
    print("ratio {:.2f} (95 % interval {:.2f} ... {:.2f}); by the clock {:.2f} ({:.2f} ... {:.2f})"
          .format(*by_processor, *by_clock))
    if given.json:
        given.json.write_text(json.dumps({
            "samples": len(samples), "mean_difference_of_255": difference,
            "pictures_per_second": {"ours": rates[0], "peer": rates[2]},
            "ratio": by_processor, "ratio_by_clock": by_clock}))


if __name__ == "__main__":
    main()
