"""Compares checkpoints, read by docs/checkpoint.md alone."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from read_checkpoint import entries  # noqa: E402


def differences(one, other):
    """Names of the entries that are not equal in the two files."""
    a, b = entries(one), entries(other)
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
