"""Reads and checks the raw file that the recorder library left of one process."""

from __future__ import annotations

import errno
import fcntl
import math
import os
import signal
import stat
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..faults import one_line
from .calls import CALL_WORK, Call, Module, Sites

FUNCTIONS = ("memcpy", "memmove", "mempcpy", "memset")


class RawError(Exception):
    """A file that is not a raw file of this version, or that contradicts itself. The message is one
    line and names the file."""


@dataclass(frozen=True)
class RawProcess:
    """The recording of one process. An exec begins another one of the same pid."""

    pid: int
    started: float  # seconds since 1970
    seconds: float  # from the start to the last note
    cpu_seconds: float  # user and system, as noted last; an exec goes on with this clock
    tick_hz: float  # 0: too short a time to tell
    period: int  # mean distance of samples, in bytes: a call has its class's start + 256
    flags: frozenset[str]  # the reasons why it could not record some calls: see _FLAGS
    modules: list[Module]
    threads: int
    counts: dict[str, dict[tuple[int, int], int]]  # function, (from, to): from <= size < to
    drawn: int  # of which `samples` are a uniform choice
    samples: list[Call]
    # CPU seconds of children that it waited for, with their children: of all, and of the last ones
    # by process id.
    waited_seconds: float = 0.0
    waited_for: Mapping[int, float] = field(default_factory=dict)
    children_cpu_seconds: float = 0.0  # of children that ended without a file of their own
    cpu_before: float = 0.0  # of cpu_seconds, before the library was loaded; 0 of a fork
    has_ended: bool = True  # and has noted its time; False: it runs, or was killed, say
    # The program and its other copies: (PROGRAM, file), (FIRST, file) and so on.
    others: tuple[tuple[str, str], ...] = ()


# They stand for its program; the file whose memcpy it calls, unless that is the recorder; the file
# of the next memcpy, unless that is libc; the file that has asterope_memcpy; its sanitizer.
_FILES = PROGRAM, FIRST, NEXT, ROUTINE = "program", "first", "next", "routine"
SANITIZER = "sanitizer"
SANITIZERS = ("AddressSanitizer", "ThreadSanitizer", "MemorySanitizer", "HWAddressSanitizer")


# --- The layout, as tuner/record/raw_file.h has it ---

_MAGIC = b"asterec\0"
_VERSION = 6
_PAGE = 4096
_CLOCKS = ("ns", "ticks", "cpu_ns")
_HEADER = struct.Struct("<8sIIQQq9QIIIIIIQIIQII512s512s512s512s")
_HEADER_FIELDS = (
    *("magic", "version", "pid", "file_bytes", "period", "realtime_ns"),
    *(f"{when}_{clock}" for when in ("started", "noted0", "noted1") for clock in _CLOCKS),
    *("note", "stop", "flags", "slots", "threads", "modules"),
    *("drawn", "samples", "path_bytes", "children_cpu_ns", "has_ended"),
    *(SANITIZER, *_FILES),
)
_WAITED = struct.Struct("<QQ")
_CHILD = struct.Struct("<QQ")
_STOP_AT = struct.calcsize("<8sIIQQq9QI")
_CLASSES, _CLASSES_ROOM = 496, 512
_SLOTS, _CHILDREN = 256, 40
_WAITED_AT = _HEADER.size + 4 * _SLOTS
_MODULES, _PATHS = 512, 49152
_SAMPLES = 4096
_MODULE = struct.Struct("<QQQII")
_SAMPLE = struct.Struct("<QQQBBH4x")
_CELLS = struct.Struct(f"<{len(FUNCTIONS) * _CLASSES_ROOM}Q")
_FOLDED = struct.Struct(f"<{len(FUNCTIONS) * _CLASSES_ROOM}I")

_MODULES_AT = _PAGE
_PATHS_AT = _MODULES_AT + _MODULES * _MODULE.size
_SAMPLES_AT = _PATHS_AT + _PATHS
_SLOTS_AT = _SAMPLES_AT + _SAMPLES * _SAMPLE.size
_SLOT_BYTES = _CELLS.size + _FOLDED.size
RAW_BYTES = _SLOTS_AT + _SLOTS * _SLOT_BYTES  # a trial has its own bytes behind these
_LARGEST = RAW_BYTES + (64 << 20)

_FLAGS = {
    "full": 1,  # no space could be reserved for threads, samples or modules
    "shared_slots": 2,  # more threads than slots, or children: counts of one slot may be too low
    "modules_full": 4,  # code was mapped that the table of modules lacks
    "quiet": 8,  # the program restricted its system calls: from then on calls were only counted
    "cut_short": 0,  # the file ends before the end that its header promises
}
_READY = 1

_LONGEST_PERIOD = 1 << 32
_SHORTEST_FOR_RATE = 1e-3  # seconds, for ticks a second
_FOLD_BITS = 30


def class_start(number: int) -> int:
    """The smallest size that is counted in a class; the next class's start is its end."""
    if number < 16:
        return number
    shift = number // 8 - 1
    return (number - 8 * shift) << shift


def class_start_of(size: int) -> int:
    """The smallest size of the class in which a size is counted."""
    shift = max(0, size.bit_length() - 4)
    return size >> shift << shift


_BOUNDS = [(class_start(number), class_start(number + 1)) for number in range(_CLASSES)]


class _Reader:
    """One raw file, of a process that may still write it."""

    def __init__(self, path: Path, file: int, size: int) -> None:
        self.path, self.file, self.size = path, file, size
        self.cut_short = False

    def error(self, what: str) -> RawError:
        return RawError(f"{one_line(self.path)}: {what}")

    def bytes_at(self, offset: int, count: int) -> bytes:
        """Reads so many bytes, or fewer if the file ends before."""
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
        waited_ns, waited = next(self.records(_WAITED, _WAITED_AT, 1), (0, 0))
        children = [*self.records(_CHILD, _WAITED_AT + _WAITED.size, _CHILDREN)]
        last = waited % _CHILDREN
        files = {what: os.fsdecode(header[what].partition(b"\0")[0]) for what in _FILES}
        others = [(what, file) for what, file in files.items() if file]
        if 0 < header[SANITIZER] <= len(SANITIZERS):
            others.append((SANITIZER, SANITIZERS[header[SANITIZER] - 1]))
        modules = self._modules(header["modules"], header["path_bytes"])
        return RawProcess(
            pid=header["pid"],
            started=header["realtime_ns"] / 1e9,
            seconds=seconds,
            cpu_seconds=noted["cpu_ns"] / 1e9,
            cpu_before=header["started_cpu_ns"] / 1e9,
            tick_hz=ticks / seconds if seconds >= _SHORTEST_FOR_RATE else 0.0,
            waited_seconds=waited_ns / 1e9,
            waited_for={pid: ns / 1e9 for ns, pid in [*children[last:], *children[:last]] if pid},
            children_cpu_seconds=header["children_cpu_ns"] / 1e9,
            period=header["period"],
            threads=header["threads"],
            drawn=header["drawn"],
            has_ended=bool(header["has_ended"]),
            others=tuple(others),
            modules=modules,
            counts=self._counts(header["slots"]),
            samples=self._samples(header, Sites(modules)),
            flags=self._flags(header["flags"]),  # the last one: all others may find it cut short
        )

    def _flags(self, bits: int) -> frozenset[str]:
        found = {name for name, bit in _FLAGS.items() if bits & bit}
        return frozenset(found | {"cut_short"} if self.cut_short else found)

    def _check(self, header: dict) -> None:
        """Raises RawError if it is not of this version, or impossible."""
        if header["magic"] != _MAGIC:
            if header["magic"] == bytes(len(_MAGIC)):
                raise self.error("never begun: its process ended at once, or is just starting")
            raise self.error("not a raw file of asterope-record")
        if header["version"] != _VERSION:
            version = header["version"]
            raise self.error(f"of version {version}: this asterope-record reads {_VERSION}")
        limits = {
            "file_bytes": (_SLOTS_AT + _SLOT_BYTES, _LARGEST),
            "period": (1, _LONGEST_PERIOD),
            "slots": (1, (min(header["file_bytes"], RAW_BYTES) - _SLOTS_AT) // _SLOT_BYTES),
            "samples": (0, _SAMPLES),
            "modules": (0, _MODULES),
            "path_bytes": (0, _PATHS),
        }
        for name, (least, most) in limits.items():
            if not least <= header[name] <= most:
                raise self.error(f"damaged: {name} is {header[name]}, not from {least} to {most}")

    def _counts(self, slots: int) -> dict[str, dict[tuple[int, int], int]]:
        calls: Counter[tuple[int, int]] = Counter()  # by function and size class
        for slot in range(slots):
            data = self.bytes_at(_SLOTS_AT + slot * _SLOT_BYTES, _SLOT_BYTES)
            if len(data) < _SLOT_BYTES:
                break
            cells, folded = _CELLS.unpack_from(data), _FOLDED.unpack_from(data, _CELLS.size)
            for place, (cell, folds) in enumerate(zip(cells, folded)):
                if cell or folds:
                    calls[divmod(place, _CLASSES_ROOM)] += (cell & 0xFFFFFFFF) + (
                        folds << _FOLD_BITS
                    )
        counts: dict[str, dict[tuple[int, int], int]] = {}
        for (function, number), found in sorted(calls.items()):
            if number >= _CLASSES:
                raise self.error(f"damaged: calls of a size class {number}")
            counts.setdefault(FUNCTIONS[function], {})[_BOUNDS[number]] = found
        return counts

    def _modules(self, count: int, path_bytes: int) -> list[Module]:
        paths, modules = self.bytes_at(_PATHS_AT, path_bytes), []
        for start, end, offset, path, length in self.records(_MODULE, _MODULES_AT, count):
            if start >= end:
                raise self.error(f"damaged: a module from {start:#x} to {end:#x}")
            modules.append(Module(start, end, offset, os.fsdecode(paths[path : path + length])))
        return modules

    def _samples(self, header: dict, sites: Sites) -> list[Call]:
        records = list(self.records(_SAMPLE, _SAMPLES_AT, header["samples"]))
        kept = [record[:-1] for record in records if record[-1] == _READY]
        # the number of drawn calls that each stands for
        stands_for = max(1.0, header["drawn"] / max(1, len(kept)))
        samples = []
        for size, caller, ticks, function, timed in kept:
            if function >= len(FUNCTIONS):
                raise self.error(f"damaged: there is no function {function}")
            chance = -math.expm1(-(class_start_of(size) + CALL_WORK) / header["period"])
            where, weight = sites.of(caller), stands_for / chance
            samples.append(Call(FUNCTIONS[function], size, where, weight, ticks if timed else None))
        return samples


def request_stop(folder: Path) -> None:
    """Asks all processes that record into a folder to stop, which they do at their next sample.
    Raises OSError if the folder cannot be listed."""
    for path in folder.glob("*.raw"):
        with suppress(OSError):  # its owner may have taken it away
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
            raise RawError(f"{one_line(path)}: not a regular file")
        return _Reader(path, file, status.st_size).read()
    finally:
        os.close(file)


def left_files(folder: Path) -> list[Path]:
    """The raw files there that no process writes any more: neither the process that made one nor a
    child of it has it mapped. Raises OSError if the folder cannot be listed."""
    return [path for path in sorted(folder.iterdir()) if path.suffix == ".raw" and _is_left(path)]


def _is_left(path: Path) -> bool:
    """Asks for a lease. Only the file's owner gets it, while no other process has it open."""
    try:
        file = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        # If another process opens it meanwhile, this one gets a signal: SIGURG, which ends nothing.
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True
    except OSError as error:
        if error.errno == errno.EAGAIN:
            return False
        return not Path("/proc", path.name.partition("-")[0]).exists()
    finally:
        os.close(file)


def read_folder(
    folder: Path, files: Iterable[Path] | None = None
) -> tuple[list[RawProcess], list[str]]:
    """All processes that recorded into a folder, the first started first, and one line for each
    file that could not be read. `files`: only these of its files. Raises OSError if the folder
    cannot be listed."""
    processes, problems = [], []
    for path in sorted(folder.iterdir()) if files is None else files:
        if path.suffix != ".raw":
            continue
        try:
            processes.append(read_process(path))
        except OSError as error:
            problems.append(f"{one_line(path)}: {error.strerror}")
        except RawError as error:
            problems.append(str(error))
    return sorted(processes, key=lambda process: process.started), problems
