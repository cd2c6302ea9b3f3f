"""The command line of a program of cases: each is a function of one argument, its bench."""

import pathlib
import shutil


def run(cases, make_bench, words):
    """PROGRAM FOLDER NAME runs one case in a folder of its own, which stays if the case fails.

    `--registered NAME...` checks that CTest knows every case and no other."""
    if words[0] == "--registered":
        differing = set(cases) ^ set(words[1:])
        assert not differing, f"CMakeLists.txt and the table of cases differ in {sorted(differing)}"
        return
    program, folder, name = words
    folder = pathlib.Path(folder) / name
    shutil.rmtree(folder, ignore_errors=True)
    bench = make_bench(program, folder)
    try:
        cases[name](bench)
    finally:
        bench.tidy()
    shutil.rmtree(folder)
