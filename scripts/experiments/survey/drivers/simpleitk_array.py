"""SimpleITK: a volume of 16 MiB to an array."""

import numpy as np
import SimpleITK as sitk
from repeat import noise, repeat

volume = np.frombuffer(noise(16 << 20), np.uint8).reshape(64, 512, 512)
image = sitk.GetImageFromArray(volume)
repeat(lambda: sitk.GetArrayFromImage(image), 16 << 20)
