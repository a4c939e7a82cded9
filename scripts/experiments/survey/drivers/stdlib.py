"""The standard library: blocks put together, written into a buffer, read from a pickle."""

import pickle
import sys

from repeat import noise, repeat

MIB = 1 << 20
data = noise(16 * MIB)
blocks = [data[i : i + 65536] for i in range(0, len(data), 65536)]
turn = 0


def join() -> bytes:
    return b"".join(blocks)


def slices() -> memoryview:
    global turn
    turn += 1
    start = turn % 4 * 16 * MIB
    for i in range(0, 16 * MIB, MIB):
        buffer[start + i : start + i + MIB] = view[i : i + MIB]
    return memoryview(buffer)[start : start + 16 * MIB]


if sys.argv[1] == "slice":
    buffer, view = bytearray(64 * MIB), memoryview(data)
if sys.argv[1] == "pickle":
    pickled = pickle.dumps([bytearray(data[i : i + MIB]) for i in range(0, 16 * MIB, MIB)], 5)
ways = {"join": join, "slice": slices, "pickle": lambda: pickle.loads(pickled)[3]}
repeat(ways[sys.argv[1]], 16 * MIB)
