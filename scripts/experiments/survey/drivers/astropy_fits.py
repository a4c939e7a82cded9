"""astropy: an image of 16 MiB written as FITS into memory."""

import io

import numpy as np
from astropy.io import fits
from repeat import repeat

image = np.arange(1 << 22, dtype=">f4").reshape(2048, 2048)


def write() -> memoryview:
    file = io.BytesIO()
    fits.PrimaryHDU(image).writeto(file)
    return file.getbuffer()


repeat(write, 16 << 20)
