"""Reads the figures of one process's trial, which stand at the end of its raw file."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...faults import one_line
from ...program import Called
from ...record.calls import Sites
from ...record.raw import FUNCTIONS, RAW_BYTES, RawProcess
from . import blocks
from .blocks import LIBC, ROUTINE, Block, Lived, Observed, Pair, Place, Seen, Spent

# --- The layout, as tuner/record/trial_file.h has it ---

_MAGIC, _VERSION = b"astetri\0", 7
_HEADER = struct.Struct("<8s8IQII")
_PAGES, _PAGE_BLOCKS = 4096, 64
_PAGE = struct.Struct("<HH")
_BLOCK = struct.Struct("<IIIHBB8I8H")
_PLACE = struct.Struct("<7Q2I4B16B532x")
_THREAD = struct.Struct("<II1024x")
_THREADS, _PLACES = 128, 256
_THREAD_BYTES = _THREAD.size + _PLACES * _PLACE.size

_PAGES_AT = RAW_BYTES + _HEADER.size
_THREADS_AT = RAW_BYTES + 4096 + _PAGES * _PAGE.size
_ROOM = 4096 - _THREADS * _THREAD_BYTES % 4096
_BLOCKS_AT = _THREADS_AT + _THREADS * _THREAD_BYTES + _ROOM

_FLAGS = [blocks.FULL, blocks.PLACES_FULL, blocks.NO_COUNTER, blocks.NO_WAY, blocks.THREADS_FULL]
# The functions of a thread's first places, which are not places in the code.
_NO_PLACE = ("copies without a place of their own", "small copies")
_TOGETHER = 2  # a page of periods in which all places go one way together
_ALL = 0xFFFF  # of a block: the thread in this period


class TrialError(Exception):
    """The trial of a raw file contradicts itself. The text is one line that names the file."""


class _Row(NamedTuple):
    """A place as a thread has it."""

    seen: Seen  # with the other threads' figures, if it has any calls
    ways: int
    running: int  # the number of its unfinished cycle


@dataclass
class _Reader:
    path: Path
    file: int
    process: RawProcess
    ways: Sequence[str]
    program: Called | None
    sites: Sites
    tick: float  # seconds; 0: not known
    observed: Observed
    is_short: bool = False

    def _bad(self, what: str) -> TrialError:
        return TrialError(f"{one_line(self.path)}: damaged: {what}")

    def _records(self, kind: struct.Struct, at: int, count: int) -> Iterator[tuple]:
        """Reads with pread: a mapping would allocate the file's holes, and full memory would mean
        SIGBUS."""
        data = os.pread(self.file, count * kind.size, at)
        if len(data) < count * kind.size:
            raise self._bad("it is cut short")
        return kind.iter_unpack(data)

    def read(self, seconds: float) -> None:
        process, observed = self.process, self.observed
        has_all = os.fstat(self.file).st_size >= _BLOCKS_AT  # a limit on file sizes may cut it
        if "full" in process.flags or not has_all:
            observed.limits.add(blocks.FULL)
        if not has_all:
            return
        ((magic, version, flags, *counts),) = self._records(_HEADER, RAW_BYTES, 1)
        _, _, *periods, only_way, kind, ended, is_short = counts
        if magic == bytes(8):  # nothing large was copied, or it could not be seen
            observed.limits |= {blocks.QUIET} if "quiet" in process.flags else set()
            return
        if (magic, version) != (_MAGIC, _VERSION):
            raise self._bad("its trial is of another version")
        observed.limits |= {name for bit, name in enumerate(_FLAGS) if flags >> bit & 1}
        if "quiet" in process.flags and blocks.NO_COUNTER not in observed.limits:
            observed.limits.add(blocks.QUIET)
        part = seconds / max(1, sum(periods))
        observed.easy_libcs, observed.easy_others = (part * count for count in periods[1:])
        if only_way > len(self.ways):
            raise self._bad(f"its process took way {only_way - 1}")
        way = self.ways[only_way - 1] if only_way else None
        since_start = process.cpu_seconds - process.cpu_before if ended else None
        name, started = str(self.path), process.started
        one = Lived(name, kind, started, seconds, way, since_start, is_short == 1)
        observed.lived.append(one)
        self.is_short = one.is_short
        pages: dict[int, list[tuple[int, int]]] = {}
        for number, (thread, kind) in enumerate(self._records(_PAGE, _PAGES_AT, _PAGES)):
            if kind and self.tick:  # without a tick their times are not known
                pages.setdefault(thread, []).append((number, kind))
        for thread in range(_THREADS):
            self._read_thread(thread, pages.get(thread, ()))

    def _read_thread(self, thread: int, pages: Sequence[tuple[int, int]]) -> None:
        at = _THREADS_AT + thread * _THREAD_BYTES
        ((places, is_used),) = self._records(_THREAD, at, 1)
        if not is_used:
            return
        if places > _PLACES:
            raise self._bad(f"a thread has {places} places")
        records = enumerate(self._records(_PLACE, at + _THREAD.size, places))
        rows = [self._read_place(number, fields) for number, fields in records]
        self.observed.threads += 1
        for page, kind in pages:
            if kind == _TOGETHER:
                self._read_together(page, rows)
            else:
                self._read_cycles(page, rows)

    def _read_place(self, number: int, fields: Sequence[int]) -> _Row:
        caller, calls, own_calls, copied, cycles, *copy_ticks = fields[:7]
        function, power, ways, racing = fields[9:13]
        is_own = number >= len(_NO_PLACE)
        if function >= len(FUNCTIONS) or power > 63 or (is_own and not ways):
            raise self._bad("a place of no function, size or way")
        if is_own:
            site = self.sites.of(caller)
            name = self.program.name_of(site.module) if self.program else ""
            place = Place(site.module, site.offset, FUNCTIONS[function], 1 << power, name)
        else:
            place = Place("", 0, _NO_PLACE[number], 0)
        left = {self.ways[way] for way in fields[13:][racing:ways] if way < len(self.ways)}
        measured = {
            way: (count, ticks * self.tick)
            for way, count, ticks in zip((LIBC, ROUTINE), fields[7:9], copy_ticks)
            if count and self.tick
        }
        short = calls if self.is_short else 0
        seen = self.observed.places.setdefault(place, Seen()) if calls else Seen()
        seen.add(Seen(calls, own_calls, short, copied, left=left, measured=measured))
        return _Row(seen, ways, cycles)

    def _blocks(self, page: int) -> Iterator[tuple[int, int, Block | Spent] | None]:
        """Yields the number of its cycle or period, its place, and the block; None for a block that
        has not begun. A thread's own time has the place _ALL."""
        at = _BLOCKS_AT + page * _PAGE_BLOCKS * _BLOCK.size
        for fields in self._records(_BLOCK, at, _PAGE_BLOCKS):
            number, gap, intervals, place, way, kept = fields[:6]
            if not kept or kept > 8 or not gap or way >= len(self.ways):
                yield None
            elif place == _ALL:
                seconds = (fields[6] | fields[7] << 32) * 1e-9
                within = (fields[8] | fields[9] << 32) * self.tick
                yield number, place, Spent(self.ways[way], seconds, within)
            else:
                times = [ticks * self.tick / gap for ticks in fields[6 : 6 + kept]]
                sizes = [1 + part / 65535 for part in fields[14 : 14 + kept]]
                yield number, place, Block(self.ways[way], times, sizes, intervals * gap, gap)

    def _read_together(self, page: int, rows: Sequence[_Row]) -> None:
        for period, place, block in filter(None, self._blocks(page)):
            pair = Pair(str(self.path), period // 2)
            if place == _ALL:
                self.observed.together.setdefault(pair, []).append(block)
            elif place < len(rows):
                rows[place].seen.together.setdefault(pair, []).append(block)

    def _read_cycles(self, page: int, rows: Sequence[_Row]) -> None:
        """Reads the blocks of each cycle in turn. It leaves out cycles that are half written."""
        found = list(self._blocks(page))
        place = next((one[1] for one in found if one is not None), None)
        if place is None or place >= len(rows) or not rows[place].ways:
            return
        seen, count, running = rows[place]
        for first in range(0, _PAGE_BLOCKS - count + 1, count):
            cycle = [one for one in found[first : first + count] if one is not None]
            # the newest ones took part; others are left over from an earlier cycle
            newest = max((number for number, _, _ in cycle), default=0)
            blocks_now = {block.way: block for number, _, block in cycle if number == newest}
            is_complete = newest != running % (1 << 32)
            if is_complete and {LIBC, ROUTINE} <= set(blocks_now):
                seen.cycles.append(list(blocks_now.values()))


def read_trial(
    path: Path,
    process: RawProcess,
    ways: Sequence[str],
    seconds: float,
    program: Called | None,
) -> Observed:
    """`ways`: their names by their numbers. `seconds`: the part of its CPU time that counts.
    `program`: the command's. Raises TrialError, and OSError."""
    observed, sites = Observed(seconds, process.seconds, processes=1), Sites(process.modules)
    tick = 1 / process.tick_hz if process.tick_hz else 0.0
    with path.open("rb", buffering=0) as file:
        _Reader(path, file.fileno(), process, ways, program, sites, tick, observed).read(seconds)
    return observed
