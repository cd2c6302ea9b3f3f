"""Reads a checkpoint by docs/checkpoint.md alone, for comparisons."""

import struct
import zlib


def read(path):
    """The entries of the file: {name: (element, shape, bytes)}."""
    data = path.read_bytes()
    magic, version, count, length, table_length = struct.unpack_from("<8sIIQQ", data)
    assert magic == b"\x89PJC\r\n\x1a\n" and version == 1, f"{path}: no checkpoint"
    assert length == len(data), f"{path}: {length} bytes expected, {len(data)} there"
    whole, = struct.unpack_from("<I", data, length - 4)
    assert zlib.crc32(data[:-4]) == whole, f"{path}: damaged"
    entries, at = {}, 40
    for _ in range(count):
        size, = struct.unpack_from("<H", data, at)
        name = data[at + 2:at + 2 + size].decode()
        at += 2 + size
        element, dimensions = struct.unpack_from("<BB", data, at)
        shape = struct.unpack_from(f"<{dimensions}q", data, at + 2)
        at += 2 + 8 * dimensions
        offset, size, _ = struct.unpack_from("<QQI", data, at)
        at += 20
        entries[name] = (element, shape, data[offset:offset + size])
    assert at == 40 + table_length, f"{path}: table"
    return entries


def differences(one, other):
    """Names of the entries that are not equal in the two files."""
    a, b = read(one), read(other)
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
