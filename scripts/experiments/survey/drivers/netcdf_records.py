"""netCDF: records of 1 MiB read from a classic file in memory."""

import numpy as np
from netCDF4 import Dataset
from repeat import noise, repeat

file = Dataset("memory.nc", "w", diskless=True, persist=False)
file.createDimension("record", 16)
file.createDimension("byte", 1 << 20)
rows = file.createVariable("rows", "i1", ("record", "byte"))
rows[:] = np.frombuffer(noise(16 << 20), np.int8).reshape(16, 1 << 20)
rows.set_auto_maskandscale(False)


def read() -> np.ndarray:
    for record in range(16):
        last = rows[record]
    return last


repeat(read, 16 << 20)
