"""soundfile: 16 MiB of sound read from a WAV file in memory."""

import io

import numpy as np
import soundfile
from repeat import noise, repeat

sound = np.frombuffer(noise(16 << 20), np.int16).reshape(-1, 2)
file = io.BytesIO()
soundfile.write(file, sound, 48000, format="WAV", subtype="PCM_16")


def read() -> np.ndarray:
    file.seek(0)
    return soundfile.read(file, dtype="int16")[0]


repeat(read, 16 << 20)
