"""rasterio: windows of 512 x 512 read from an uncompressed GeoTIFF in memory."""

import numpy as np
import rasterio
from rasterio.io import MemoryFile
from rasterio.windows import Window
from repeat import noise, repeat

raster = np.frombuffer(noise(16 << 20), np.uint8).reshape(1, 4096, 4096)
memory = MemoryFile()
shape = {"width": 4096, "height": 4096, "count": 1, "dtype": "uint8"}
tiles = {"tiled": True, "blockxsize": 512, "blockysize": 512}
with memory.open(
    driver="GTiff", transform=rasterio.Affine(2, 0, 0, 0, -2, 0), **shape, **tiles
) as file:
    file.write(raster)
file = memory.open()
windows = [Window(x, y, 512, 512) for y in range(0, 4096, 512) for x in range(0, 4096, 512)]


def read() -> np.ndarray:
    for window in windows:
        last = file.read(1, window=window)
    return last


repeat(read, 16 << 20)
