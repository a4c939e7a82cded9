"""numpy: the same copies into memory used before, into new memory, and by rows."""

import sys

import numpy as np
from repeat import noise, repeat

MIB = 1 << 20
blocks = np.tile(np.frombuffer(noise(MIB), np.uint8), (64, 1))
blocks[:, 0] = range(64)
target = blocks.copy() if sys.argv[1] == "assign" else blocks
picture = blocks.reshape(-1, 16384)
small = np.zeros(65536, np.uint8)
turn = 0


def assign() -> np.ndarray:
    for block in range(64):
        target[block * 37 % 64] = blocks[block]
    return target[:8]


def buffer() -> np.ndarray:
    global turn
    turn = (turn + 8) % 56
    total = 0
    for start in range(0, 8 * MIB, 65536):
        np.copyto(small, blocks[turn + start // MIB, start % MIB : start % MIB + 65536])
        total += int(small[::64].sum())
    return np.array([int(small.sum()), total])


ways = {
    "assign": (assign, 64 * MIB),
    "copy": (lambda: blocks[:32].copy(), 32 * MIB),
    "tobytes": (lambda: blocks[:32].tobytes(), 32 * MIB),
    "crop": (lambda: np.ascontiguousarray(picture[:, 4096:8192]), 16 * MIB),
    "concatenate": (lambda: np.concatenate(blocks[:64:8]), 8 * MIB),
    "buffer": (buffer, 8 * MIB),
}
repeat(*ways[sys.argv[1]])
