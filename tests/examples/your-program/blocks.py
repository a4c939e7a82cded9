"""Copies blocks of 1 MiB within 200 MiB, which no cache holds."""

import numpy

SOURCE = numpy.ones((100, 1 << 20), numpy.uint8)
TARGET = numpy.zeros_like(SOURCE)

for turn in range(12_000):
    block = turn * 37 % len(SOURCE)
    TARGET[block] = SOURCE[block]
