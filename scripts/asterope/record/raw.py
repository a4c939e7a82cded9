"""What the recorder library left of one process: its raw file, read and checked."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..one_line import one_line

FUNCTIONS = ("memcpy", "memmove", "mempcpy", "memset")


class RawError(Exception):
    """A file that is no raw file of this version, or that contradicts itself: one line, which
    names the file."""


@dataclass(frozen=True)
class Flags:
    """What a process could not record, and why."""

    full: bool  # no space could be reserved: nothing was recorded from then on
    shared_slots: bool  # more threads than slots, or children: counts of one slot may be too low
    modules_full: bool  # code was mapped that the table of modules lacks
    quiet: bool  # the program restricted its system calls: it was counted from then on, no more
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
    # How many drawn calls it stands for: the drawn ones over the kept ones of its process.
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
    drawn: int  # of which `samples` are a uniform choice
    samples: list[Sample]
    bursts: list[list[BurstCall]]
    watches: list[Watch]
    children_cpu_seconds: float = 0.0  # of children that ended without a file of their own


# --- The layout, as tuner/record/raw_file.h has it ---

_MAGIC = b"asterec\0"
_VERSION = 2
_PAGE = 4096
_CLOCKS = ("ns", "ticks", "cpu_ns")
_HEADER = struct.Struct("<8sIIQQQq9QIIIiIIQQQIIIII4xQ512s")
_HEADER_FIELDS = (
    *("magic", "version", "pid", "file_bytes", "period", "window_ns", "realtime_ns"),
    *(f"{when}_{clock}" for when in ("started", "noted0", "noted1") for clock in _CLOCKS),
    *("note", "stop", "flags", "watch_errno", "slots", "threads"),
    *("drawn", "bursts_drawn", "watches_drawn"),
    *("samples", "bursts", "watches", "modules", "path_bytes"),
    *("children_cpu_ns", "executable"),
)
_STOP_AT = struct.calcsize("<8sIIQQQq9QI")
_CLASSES, _CLASSES_ROOM = 496, 512
_SLOTS = 256
_MODULES, _PATHS = 512, 49152
_WATCHES, _BURSTS, _BURST_CALLS, _SAMPLES = 512, 256, 128, 16384
_MODULE = struct.Struct("<QQQII")
_WATCH = struct.Struct("<10QIIII16x")
_BURST = struct.Struct("<II8x")
_BURST_CALL = struct.Struct("<IIHHBBBx")
_SAMPLE = struct.Struct("<QQQQIIHHBBH")
_CELLS = struct.Struct(f"<{len(FUNCTIONS) * _CLASSES_ROOM}Q")
_FOLDED = struct.Struct(f"<{len(FUNCTIONS) * _CLASSES_ROOM}I")

_MODULES_AT = _PAGE
_PATHS_AT = _MODULES_AT + _MODULES * _MODULE.size
_WATCHES_AT = _PATHS_AT + _PATHS
_BURSTS_AT = _WATCHES_AT + _WATCHES * _WATCH.size
_BURST_BYTES = _BURST.size + _BURST_CALLS * _BURST_CALL.size
_SAMPLES_AT = _BURSTS_AT + _BURSTS * _BURST_BYTES
_SLOTS_AT = _SAMPLES_AT + _SAMPLES * _SAMPLE.size
_SLOT_BYTES = _CELLS.size + _FOLDED.size
_LARGEST = _SLOTS_AT + _SLOTS * _SLOT_BYTES

_FULL, _SHARED, _MODULES_FULL, _QUIET = 1, 2, 4, 8
_OVERLAP, _TIMED, _SOURCE_PROBED, _DESTINATION_PROBED, _RESIDENT_KNOWN, _RESIDENT = (
    1 << bit for bit in range(6)
)
_READY = 1

_LONGEST_PERIOD = 1 << 32
_SHORTEST_FOR_RATE = 1e-3  # seconds, for ticks a second
_FOLD_BITS = 30
# A write and the access that it is stop at the same instruction, one breakpoint right after the
# other. 20 us is long for that, and short for a program that comes back to the same instruction.
_SAME_ACCESS_NS = 20_000


def class_start(number: int) -> int:
    """The smallest size that is counted in a class; the next class's start is its end."""
    if number < 16:
        return number
    shift = number // 8 - 1
    return (number - 8 * shift) << shift


_BOUNDS = [(class_start(number), class_start(number + 1)) for number in range(_CLASSES)]


class _Reader:
    """One raw file, of a process that may still write it."""

    def __init__(self, path: Path, file: int, size: int) -> None:
        self.path, self.file, self.size = path, file, size
        self.cut_short = False

    def error(self, what: str) -> RawError:
        return RawError(f"{one_line(self.path)}: {what}")

    def bytes_at(self, offset: int, count: int) -> bytes:
        """Fewer where the file ends."""
        data = os.pread(self.file, count, offset)
        if len(data) < count:
            self.cut_short = True
        return data

    def records(self, kind: struct.Struct, offset: int, count: int) -> Iterator[tuple]:
        data = self.bytes_at(offset, count * kind.size)
        return kind.iter_unpack(data[: len(data) // kind.size * kind.size])

    def read(self) -> RawProcess:
        if self.size == 0:
            raise self.error("empty: there was no space for it, or files may not be so large")
        data = self.bytes_at(0, _HEADER.size)
        if len(data) < _HEADER.size:
            raise self.error("ends within its header")
        header = dict(zip(_HEADER_FIELDS, _HEADER.unpack(data)))
        self._check(header)
        noted = {clock: header[f"noted{header['note'] & 1}_{clock}"] for clock in _CLOCKS}
        seconds = max(0, noted["ns"] - header["started_ns"]) / 1e9
        ticks = max(0, noted["ticks"] - header["started_ticks"])
        flags = header["flags"]
        recorded = {
            "modules": self._modules(header["modules"], header["path_bytes"]),
            "counts": self._counts(header["slots"]),
            "samples": self._samples(header["samples"], header["drawn"]),
            "bursts": self._bursts(header["bursts"]),
            "watches": self._watches(header["watches"], header["window_ns"]),
        }
        return RawProcess(
            pid=header["pid"],
            executable=os.fsdecode(header["executable"].split(b"\0")[0]),
            started=header["realtime_ns"] / 1e9,
            seconds=seconds,
            cpu_seconds=noted["cpu_ns"] / 1e9,
            tick_hz=ticks / seconds if seconds >= _SHORTEST_FOR_RATE else 0.0,
            children_cpu_seconds=header["children_cpu_ns"] / 1e9,
            period=header["period"],
            threads=header["threads"],
            drawn=header["drawn"],
            flags=Flags(
                full=bool(flags & _FULL),
                shared_slots=bool(flags & _SHARED),
                modules_full=bool(flags & _MODULES_FULL),
                quiet=bool(flags & _QUIET),
                watch_errno=header["watch_errno"],
                cut_short=self.cut_short,
            ),
            **recorded,
        )

    def _check(self, header: dict) -> None:
        """Raises RawError where it is none of this version's, or impossible."""
        if header["magic"] != _MAGIC:
            if header["magic"] == bytes(len(_MAGIC)):
                raise self.error("never begun: its process ended at once, or is just starting")
            raise self.error("no raw file of asterope-record")
        if header["version"] != _VERSION:
            version = header["version"]
            raise self.error(f"of version {version}, where this asterope-record reads {_VERSION}")
        limits = {
            "file_bytes": (_SLOTS_AT + _SLOT_BYTES, _LARGEST),
            "period": (1, _LONGEST_PERIOD),
            "slots": (1, (header["file_bytes"] - _SLOTS_AT) // _SLOT_BYTES),
            "samples": (0, _SAMPLES),
            "bursts": (0, _BURSTS),
            "watches": (0, _WATCHES),
            "modules": (0, _MODULES),
            "path_bytes": (0, _PATHS),
        }
        for name, (least, most) in limits.items():
            if not least <= header[name] <= most:
                raise self.error(
                    f"damaged: {name} is {header[name]}, where {least} to {most} can be"
                )

    def _counts(self, slots: int) -> dict[str, dict[tuple[int, int], int]]:
        counts: dict[str, dict[tuple[int, int], int]] = {}
        for slot in range(slots):
            data = self.bytes_at(_SLOTS_AT + slot * _SLOT_BYTES, _SLOT_BYTES)
            if len(data) < _SLOT_BYTES:
                break
            cells, folded = _CELLS.unpack_from(data), _FOLDED.unpack_from(data, _CELLS.size)
            for place, (cell, folds) in enumerate(zip(cells, folded)):
                if not cell and not folds:
                    continue
                function, number = divmod(place, _CLASSES_ROOM)
                if number >= _CLASSES:
                    raise self.error(f"damaged: calls of a size class {number}")
                of_function = counts.setdefault(FUNCTIONS[function], {})
                calls = (cell & 0xFFFFFFFF) + (folds << _FOLD_BITS)
                of_function[_BOUNDS[number]] = of_function.get(_BOUNDS[number], 0) + calls
        return {name: dict(sorted(counts[name].items())) for name in FUNCTIONS if name in counts}

    def _modules(self, count: int, path_bytes: int) -> list[Module]:
        paths, modules = self.bytes_at(_PATHS_AT, path_bytes), []
        for start, end, offset, path, length in self.records(_MODULE, _MODULES_AT, count):
            if start >= end:
                raise self.error(f"damaged: a module from {start:#x} to {end:#x}")
            modules.append(Module(start, end, offset, os.fsdecode(paths[path : path + length])))
        return modules

    def _function(self, number: int) -> str:
        if number >= len(FUNCTIONS):
            raise self.error(f"damaged: there is no function {number}")
        return FUNCTIONS[number]

    def _samples(self, count: int, drawn: int) -> list[Sample]:
        records = self.records(_SAMPLE, _SAMPLES_AT, count)
        kept = [record[:-1] for record in records if record[-1] == _READY]
        stands_for = max(1.0, drawn / max(1, len(kept)))
        samples = []
        for record in kept:
            size, caller, ns, copy, source, destination = record[:6]
            source_offset, destination_offset, function, flags = record[6:]
            samples.append(
                Sample(
                    function=self._function(function),
                    size=size,
                    caller=caller,
                    source_offset=source_offset % _PAGE,
                    destination_offset=destination_offset % _PAGE,
                    overlap=bool(flags & _OVERLAP),
                    copy_ticks=copy if flags & _TIMED else None,
                    source_ticks=source if flags & _SOURCE_PROBED else None,
                    destination_ticks=destination if flags & _DESTINATION_PROBED else None,
                    destination_resident=(
                        bool(flags & _RESIDENT) if flags & _RESIDENT_KNOWN else None
                    ),
                    monotonic_ns=ns,
                    stands_for=stands_for,
                )
            )
        return samples

    def _bursts(self, count: int) -> list[list[BurstCall]]:
        bursts = []
        for number in range(count):
            data = self.bytes_at(_BURSTS_AT + number * _BURST_BYTES, _BURST_BYTES)
            if len(data) < _BURST_BYTES:
                break
            calls, _writer = _BURST.unpack_from(data)
            if calls > _BURST_CALLS:
                raise self.error(f"damaged: a burst of {calls} calls")
            burst = []
            for record in _BURST_CALL.iter_unpack(data[_BURST.size :][: calls * _BURST_CALL.size]):
                size, gap, source_page, destination_page, source, destination, function = record
                burst.append(
                    BurstCall(
                        function=self._function(function),
                        size=size,
                        source_mod=source % 64,
                        destination_mod=destination % 64,
                        source_page=source_page,
                        destination_page=destination_page,
                        gap_ticks=gap,
                    )
                )
            if burst:
                bursts.append(burst)
        return bursts

    def _watches(self, count: int, window_ns: int) -> list[Watch]:
        watches = []
        for record in self.records(_WATCH, _WATCHES_AT, count):
            size, caller, copy, armed, closed, access, access_ip, write, write_ip, copied = record[
                :10
            ]
            thread, access_thread, write_thread, ready = record[10:]
            if ready != _READY:
                continue
            if not access or access - armed > window_ns:
                outcome, after = "window", None
            else:
                is_write = (
                    write
                    and (write_ip, write_thread) == (access_ip, access_thread)
                    and abs(write - access) <= _SAME_ACCESS_NS
                )
                outcome, after = "written" if is_write else "read", max(0, access - armed)
            share = (
                min(1.0, after / (closed - armed)) if after is not None and closed > armed else 0
            )
            watches.append(
                Watch(
                    size=size,
                    caller=caller,
                    copy_ticks=copy or None,
                    outcome=outcome,
                    after_ns=after,
                    same_thread=None if after is None else access_thread == thread,
                    bytes_after=None if after is None else round(copied * share),
                )
            )
        return watches


def tell_to_stop(path: Path) -> None:
    """Asks a process to record no further. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if os.fstat(file).st_size >= _HEADER.size:
            os.pwrite(file, (1).to_bytes(4, "little"), _STOP_AT)
    finally:
        os.close(file)


def read_process(path: Path) -> RawProcess:
    """Raises OSError, RawError."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise RawError(f"{one_line(path)}: no regular file")
        return _Reader(path, file, status.st_size).read()
    finally:
        os.close(file)


def read_folder(folder: Path) -> tuple[list[RawProcess], list[str]]:
    """All processes that recorded into a folder, first started first, and one line for each file
    that could not be read. Raises OSError where the folder cannot be listed."""
    processes, problems = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix != ".raw":
            continue
        try:
            processes.append(read_process(path))
        except OSError as error:
            problems.append(f"{one_line(path)}: {error.strerror}")
        except RawError as error:
            problems.append(str(error))
    return sorted(processes, key=lambda process: process.started), problems
