"""What the recorder library left of one process: its raw file, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FUNCTIONS = ("memcpy", "memmove", "mempcpy", "memset")


class RawError(Exception):
    """A file that is no raw file of this version, or that contradicts itself: one line, which
    names the file."""


@dataclass(frozen=True)
class Flags:
    """What a process could not record, and why."""

    full: bool  # no space could be reserved: nothing was recorded from then on
    shared_slots: bool  # more threads than slots: counts of threads that share one may be too low
    modules_full: bool  # code was mapped that the table of modules lacks
    watch_errno: int  # why perf_event_open refused a watchpoint; 0: it did not, or nobody asked
    cut_short: bool  # the file ends before what its header promises: the rest of it is missing


@dataclass(frozen=True)
class Module:
    """One executable mapping: addresses from `start`, below `end`, are `offset` into the file."""

    start: int
    end: int
    offset: int
    path: str  # as /proc/PID/maps has it: empty for memory without a file, or "[vdso]"


@dataclass(frozen=True)
class Sample:
    """One call, drawn with a probability proportional to size + 256."""

    function: str
    size: int
    caller: int  # return address
    source_offset: int  # modulo 4096; 0 for memset
    destination_offset: int
    overlap: bool
    copy_ticks: int | None  # None: not timed; the cost of timing is still in it
    source_ticks: int | None  # one load of a random line; None: not probed
    destination_ticks: int | None
    destination_resident: bool | None  # None: not asked
    monotonic_ns: int  # CLOCK_MONOTONIC
    # How many drawn calls it stands for: the drawn ones over the kept ones of its thread's reservoir,
    # which differ from thread to thread.
    stands_for: float = 1.0


@dataclass(frozen=True)
class BurstCall:
    """One of up to 128 calls of a thread that follow each other."""

    function: str
    size: int
    source_mod: int  # modulo 64
    destination_mod: int
    source_page: int  # hash of the page, 16 bit
    destination_page: int
    gap_ticks: int  # since the previous call returned; 0 for the first of a burst


@dataclass(frozen=True)
class Watch:
    """One line of a destination that was watched until its first access."""

    size: int
    caller: int
    copy_ticks: int | None
    outcome: str  # "read", "written" (overwritten before it was read), "window" (neither in time)
    after_ns: int | None  # from the end of the copy to the access
    same_thread: bool | None
    bytes_after: int | None  # what this thread copied until the access, interpolated


@dataclass(frozen=True)
class RawProcess:
    """What was recorded of one process. An exec begins another one of the same pid."""

    pid: int
    executable: str
    started: float  # seconds since 1970
    seconds: float  # from the start to what was noted last
    cpu_seconds: float  # user and system, as noted last
    tick_hz: float  # 0: too short a time to tell
    period: int  # mean distance of samples, in bytes of work: size + 256 a call
    flags: Flags
    modules: list[Module]
    threads: int
    counts: dict[str, dict[tuple[int, int], int]]  # function, (from, to): from <= size < to
    drawn: int  # of which `samples` are a uniform choice, thread by thread
    samples: list[Sample]
    bursts: list[list[BurstCall]]
    watches: list[Watch]


def read_process(path: Path) -> RawProcess:
    """Raises OSError, RawError."""
    raise NotImplementedError(path)


def read_folder(folder: Path) -> tuple[list[RawProcess], list[str]]:
    """All processes that recorded into a folder, first started first, and one line for each file
    that could not be read. Raises OSError where the folder cannot be listed."""
    raise NotImplementedError(folder)
