"""OpenCV: pictures of 1080p with a border, and two side by side."""

import sys

import cv2
import numpy as np
from repeat import noise, repeat

cv2.setNumThreads(1)
picture = np.frombuffer(noise(1080 * 1920 * 3), np.uint8).reshape(1080, 1920, 3)
ways = {
    "border": (lambda: cv2.copyMakeBorder(picture, 8, 8, 8, 8, cv2.BORDER_REFLECT), 1),
    "hconcat": (lambda: cv2.hconcat([picture, picture]), 2),
}
work, pictures = ways[sys.argv[1]]
repeat(work, pictures * picture.nbytes)
