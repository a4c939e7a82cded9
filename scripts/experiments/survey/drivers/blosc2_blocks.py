"""blosc2: an array stored in chunks, there and back."""

import blosc2
import numpy as np
from repeat import noise, repeat

data = np.frombuffer(noise(16 << 20), np.uint8)
blosc2.set_nthreads(1)
settings = {"codec": blosc2.Codec.LZ4, "clevel": 1}
repeat(lambda: blosc2.asarray(data, cparams=settings)[:], 2 * data.nbytes)
