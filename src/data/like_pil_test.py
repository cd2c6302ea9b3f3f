#!/usr/bin/python3
"""Holds what training reads to PIL: same files, same crops, PIL's antialiased bilinear resizing.

    like_pil_test.py SHOW_PICTURES
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = 96
SHORTER_SIDE = 112
MEAN = np.array([0.485, 0.456, 0.406], np.float32).reshape(3, 1, 1)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32).reshape(3, 1, 1)
EPOCHS = 4


def photograph(width, height, seed):
    """Random phases, amplitude falling with frequency, as in photographs; colours vary less."""
    chance = np.random.default_rng(seed)
    down = np.fft.fftfreq(height)[:, None]
    across = np.fft.fftfreq(width)[None, :]
    distance = np.hypot(down, across)
    distance[0, 0] = 1

    def plane():
        real, imaginary = chance.standard_normal((2, height, width))
        field = np.fft.ifft2((real + 1j * imaginary) / distance**1.1).real
        return (field - field.mean()) / field.std()

    bright = plane()
    picture = np.stack([127 + 45 * bright + 15 * plane() for _ in range(3)], -1)
    return Image.fromarray(np.clip(np.round(picture), 0, 255).astype(np.uint8))


def write_pictures(folder):
    folder.mkdir()
    small, large = photograph(500, 375, 1), photograph(1500, 1100, 2)
    jpegs = [("444", small, 0, {}), ("422", small, 1, {}), ("420", small, 2, {}),
             ("progressive", small, 2, {"progressive": True}), ("large_444", large, 0, {}),
             ("large_420", large, 2, {}), ("large_progressive", large, 2, {"progressive": True}),
             ("grey", small.convert("L"), 0, {}), ("cmyk", small.convert("CMYK"), 0, {}),
             ("tiny", small.crop((0, 0, 7, 5)), 2, {}), ("dot", small.crop((0, 0, 1, 1)), 0, {}),
             ("wide", large.crop((0, 0, 1500, 9)), 2, {}),
             ("high", large.crop((0, 0, 9, 1100)), 2, {})]
    for name, picture, subsampling, more in jpegs:
        picture.save(folder / f"{name}.jpg", quality=92, subsampling=subsampling, **more)
    small.save(folder / "png.JPEG", format="PNG")
    small.convert("L").save(folder / "grey.png")
    small.quantize(64).save(folder / "palette.png")
    faint = small.copy()
    faint.putalpha(100)
    faint.save(folder / "alpha.png")
    large.save(folder / "large.png")


def normalised(picture):
    values = np.asarray(picture, np.float32).transpose(2, 0, 1) / 255
    return (values - MEAN) / DEVIATION


def training(sample):
    path, left, top, width, height, mirrored = sample[:6]
    picture = Image.open(path).convert("RGB").crop((left, top, left + width, top + height))
    picture = picture.resize((SIZE, SIZE), Image.BILINEAR)
    return normalised(picture.transpose(Image.FLIP_LEFT_RIGHT) if mirrored else picture)


def evaluation(sample):
    picture = Image.open(sample[0]).convert("RGB")
    shorter = min(picture.size)
    picture = picture.resize([side * SHORTER_SIDE // shorter for side in picture.size],
                             Image.BILINEAR)
    left, top = [round((side - SIZE) / 2) for side in picture.size]
    return normalised(picture.crop((left, top, left + SIZE, top + SIZE)))


class Ours:
    def __init__(self, program, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [program, folder / "pictures", str(SIZE), str(SHORTER_SIDE)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def samples(self, epoch):
        self.ask(f"samples {epoch}")
        found = []
        while line := self.process.stdout.readline().strip():
            words = line.split("\t")
            found.append([words[0], *map(int, words[1:])])
        return found

    def pictures(self, epoch):
        self.ask(f"write {epoch} {self.folder / 'out'}")
        assert self.process.stdout.readline().strip() == "written"
        return np.fromfile(self.folder / "out", np.float32).reshape(-1, 3, SIZE, SIZE)


def compare(ours, epoch, show):
    """How far each picture is from PIL's, in 255ths: the mean, and the most."""
    found = {}
    for sample, got in zip(ours.samples(epoch), ours.pictures(epoch), strict=True):
        difference = np.abs((got - show(sample)) * DEVIATION) * 255
        found[Path(sample[0]).name] = difference.mean(), difference.max(), sample[6]
    return found


def main():
    failures = 0
    shrunk = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pictures").mkdir()
        write_pictures(folder / "pictures/class")
        ours = Ours(sys.argv[1], folder)
        rounds = [(str(epoch), training) for epoch in range(EPOCHS)] + [("evaluation", evaluation)]
        for epoch, show in rounds:
            for file, (mean, most, shrink) in compare(ours, epoch, show).items():
                # PIL rounds to 8 bits after each of two passes, and mixes inks to 8 bits before
                within = mean <= 1 and (shrink > 1 or most <= (2.5 if "cmyk" in file else 1.05))
                failures += not within
                shrunk += shrink > 1
                print(f"{epoch:>10} {file:22} decoded at 1/{shrink}: mean {mean:.3f}, most "
                      f"{most:.2f} of 255{'' if within else '   TOO FAR'}")
        ours.process.stdin.close()
        assert ours.process.wait() == 0
    assert shrunk > 0, "no picture was decoded at a smaller scale"
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
