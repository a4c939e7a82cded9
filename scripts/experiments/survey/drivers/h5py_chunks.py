"""h5py: chunks of 1 MiB read from a file in memory."""

import h5py
import numpy as np
from repeat import noise, repeat

data = np.frombuffer(noise(16 << 20), np.uint8).reshape(16, 1 << 20)
file = h5py.File("memory.h5", "w", driver="core", backing_store=False)
rows = file.create_dataset("rows", data=data, chunks=(1, 1 << 20))


def read() -> np.ndarray:
    for row in range(16):
        last = rows[row]
    return last


repeat(read, 16 << 20)
