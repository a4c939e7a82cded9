"""The recorder library: where it is, and what a clock read and a load take on this machine."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .raw import tell_to_stop

LIBRARY = "libasterope_record.so"

_MEMORY = "/dev/shm"
_ROOM = 256 << 20  # bytes: a process takes 0.04 MB, and 1.5 MB where it copies much


@dataclass(frozen=True)
class Calibration:
    """Ticks."""

    empty_ticks: float  # timing nothing, a mean: what to take off Sample.copy_ticks
    cache_ticks: float  # a probe of a line in the first cache, median, like the next two
    last_cache_ticks: float  # of one in the last cache, or further than the second
    memory_ticks: float


def find_library() -> Path | None:
    """In a checkout, an installed tree or beside the package; None: nowhere."""
    above = Path(__file__).resolve().parents  # record, the package, and so on
    if (above[3] / "tuner" / "record").is_dir():  # a checkout
        places = [Path(os.environ.get("ASTEROPE_BUILD_DIR", above[3] / "build"))]
    else:  # where pip puts it, or above share/asterope/python
        places = [above[1], *(root / "lib" / "asterope" for root in above[5:6])]
    paths = (place.resolve() / LIBRARY for place in places)
    return next((path for path in paths if path.is_file()), None)


def calibrate(library: Path) -> Calibration:
    """Takes about 0.1 s. Raises OSError where the library cannot be loaded, or is another."""
    loaded = ctypes.CDLL(str(library))
    try:
        measure = loaded.asterope_record_calibrate
    except AttributeError:
        raise OSError(f"{library} is no recorder of asterope") from None
    ticks = (ctypes.c_double * 4)()
    if measure(ticks) != 0:
        raise OSError("no memory is left to measure what a load takes")
    return Calibration(*ticks)


def time_trace(library: Path, calls: Sequence[tuple[int, int, int]]) -> float:
    """Mean ticks of libc's copy for calls (size below 2 KiB, source and destination modulo 64) in
    this order, one after the other as programs make them and with cached buffers. Raises OSError
    where that cannot be measured."""
    flat = (ctypes.c_uint32 * (3 * len(calls)))(*(value for call in calls for value in call))
    ticks = ctypes.c_double()
    measure = ctypes.CDLL(str(library)).asterope_record_time_trace
    if measure(flat, ctypes.c_size_t(len(calls)), ctypes.byref(ticks)) != 0:
        raise OSError("the trace cannot be timed")
    return ticks.value


@contextlib.contextmanager
def watchpoints_ready(library: Path) -> Iterator[None]:
    """While this lasts, recorded programs open their watchpoints in 0.1 ms; the first one of each
    second would take 15 ms otherwise. Where none may be opened, nothing happens."""
    held = ctypes.CDLL(str(library)).asterope_record_hold_breakpoint()
    try:
        yield
    finally:
        if held >= 0:
            os.close(held)


def place_for_files() -> str | None:
    """The folder in which raw files cost programs the least: in memory. On a disk each process that
    starts waits some milliseconds for the file system's journal. None: where temporary files are
    otherwise, as memory is short or TMPDIR names a place."""
    try:
        space = os.statvfs(_MEMORY)
    except OSError:
        return None
    roomy = space.f_bavail * space.f_frsize >= _ROOM
    named = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))  # tempfile's
    return _MEMORY if roomy and not named and os.access(_MEMORY, os.W_OK | os.X_OK) else None


def request_stop(folder: Path) -> None:
    """Asks all processes that record into a folder to record no further. Raises OSError where the
    folder cannot be listed."""
    for path in folder.glob("*.raw"):
        with contextlib.suppress(OSError):  # its owner may have taken it away
            tell_to_stop(path)
