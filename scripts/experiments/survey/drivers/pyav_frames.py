"""PyAV: frames of 1080p in RGB from arrays, and to arrays again."""

import av
import numpy as np
from repeat import noise, repeat

picture = np.frombuffer(noise(1080 * 1920 * 3), np.uint8).reshape(1080, 1920, 3)
repeat(lambda: av.VideoFrame.from_ndarray(picture, format="rgb24").to_ndarray(), 2 * picture.nbytes)
