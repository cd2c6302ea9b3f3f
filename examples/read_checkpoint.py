#!/usr/bin/env python3
"""Reads a checkpoint (docs/checkpoint.md), arrays with numpy; for PyTorch:

    from read_checkpoint import weights
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights(FILE).items()})

    read_checkpoint.py FILE     prints the names, types and shapes of what a checkpoint holds
"""

import struct
import sys
import zlib

TYPES = ["float32", "float64", "float16", "bfloat16", "int64", "uint8"]


def entries(path):
    """What a checkpoint holds, by name: type, shape and bytes. Text is of type uint8."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PJC\r\n\x1a\n":
        raise ValueError(f"{path}: no checkpoint")
    version, count, length = struct.unpack_from("<IIQ", data, 8)
    if version != 1:
        raise ValueError(f"{path}: of version {version}; this reads version 1")
    if length != len(data) or zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little"):
        raise ValueError(f"{path}: damaged")
    found, at = {}, 40
    for _ in range(count):
        size, = struct.unpack_from("<H", data, at)
        name = data[at + 2:at + 2 + size].decode()
        at += 2 + size
        element, dimensions = struct.unpack_from("<BB", data, at)
        shape = struct.unpack_from(f"<{dimensions}q", data, at + 2)
        at += 2 + 8 * dimensions
        offset, size, _ = struct.unpack_from("<QQI", data, at)
        at += 20
        found[name] = (TYPES[element], shape, data[offset:offset + size])
    return found


def weights(path):
    """Weights and running statistics that were evaluated, called as torchvision calls them."""
    found = entries(path)
    # Where ranks differ, the weights that are evaluated are none of theirs.
    prefix = "evaluated." if any(name.startswith("evaluated.") for name in found) else "model."
    import numpy
    return {name[len(prefix):]: numpy.frombuffer(data, numpy.dtype(kind).newbyteorder("<"))
            .reshape(shape).astype(kind)
            for name, (kind, shape, data) in found.items() if name.startswith(prefix)}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, (kind, shape, _) in entries(sys.argv[1]).items():
        print(f"{name:40} {kind:8} {'x'.join(map(str, shape))}")
