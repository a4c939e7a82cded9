"""The recorder library: where it is, and what a clock read and a load take on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LIBRARY = "libasterope_record.so"


@dataclass(frozen=True)
class Calibration:
    """Ticks, medians."""

    empty_ticks: int  # timing nothing: what to take off Sample.copy_ticks and the probes' ticks
    cache_ticks: int  # a probe of a line in the first cache
    last_cache_ticks: int  # of one in the last cache, or further than the second
    memory_ticks: int


def find_library() -> Path | None:
    """In a checkout, an installed tree or beside the package; None: nowhere."""
    raise NotImplementedError


def calibrate(library: Path) -> Calibration:
    """Takes about 0.1 s. Raises OSError where the library cannot be loaded."""
    raise NotImplementedError(library)


def request_stop(folder: Path) -> None:
    """Asks all processes that record into a folder to record no further."""
    raise NotImplementedError(folder)
