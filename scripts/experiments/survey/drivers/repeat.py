"""The shared part of the Python drivers."""

from __future__ import annotations

import random
import sys
import zlib
from typing import Any, Callable


def repeat(work: Callable[[], Any], moved: int) -> None:
    """Does the work as often as the command line says; then prints the checksum of its last result,
    which has a buffer, and the bytes that one turn moves."""
    result = b""
    for _ in range(int(sys.argv[-1])):
        result = work()
    print(f"result {zlib.crc32(memoryview(result).cast('B'))} {moved}")


def noise(size: int) -> bytes:
    """Bytes that do not compress, the same in each run."""
    return random.Random(1).randbytes(size)
