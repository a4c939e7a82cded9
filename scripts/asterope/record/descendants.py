"""The command's processes in /proc: their CPU time, those that cannot be recorded, and when to look
at them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..faults import one_line
from ..program import CannotPreload, check_program
from .kernel import Used

_PROC = Path("/proc")

MOST_NAMED = 10

# Seconds from one look to the next: right after a process has begun, and at most.
FIRST, LAST = 0.01, 0.25
GROWTH = 1.03  # each pause over the one before: so a pause is some 3 % of the process's age
_BETWEEN = 10  # durations of a look pass before the next one, but LAST at most


def used_by(pid: int) -> tuple[str, Used, Used]:
    """Returns a process's own name, which an exec changes. Also returns its use of the CPU, and
    that of the children that it waited for. /proc keeps these until its parent waits for it."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        name, _, rest = text.partition("(")[2].rpartition(")")
        fields = [int(word) for word in rest.split()[1:]]
        tick = os.sysconf("SC_CLK_TCK")
        own, waited = (
            Used((fields[at] + fields[at + 1]) / tick, fields[at + 1] / tick, fields[faults])
            for at, faults in ((10, 6), (12, 7))
        )
    except (OSError, ValueError, IndexError):
        return "", Used(), Used()
    return name, own, waited


def _own_seconds(pid: int, otherwise: float) -> float:
    """Reads the kernel's clock of the process (CPUCLOCK_SCHED), as /proc only has whole ticks.
    Returns `otherwise` if the process is gone."""
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:  # it is gone
        return otherwise


def _program_of(pid: int) -> str:
    """Its file, or its own name if it has other rights than this process (set-user-ID, say). Empty
    if it is just ending."""
    with suppress(OSError):
        try:
            return os.readlink(_PROC / str(pid) / "exe")
        except PermissionError:
            if (_PROC / str(pid) / "cmdline").read_bytes():  # an ended one has none
                return used_by(pid)[0]
    return ""


def programs_running() -> dict[int, str]:
    """The programs of this process's descendants, by process id."""
    programs = {pid: _program_of(pid) for pid in _descendants()}
    return {pid: program for pid, program in programs.items() if program}


class Descendants:
    """The descendants of this process. It looks for them now and then, and may miss short ones."""

    def __init__(self, folder: Path) -> None:
        """`folder`: of the session."""
        self._folder = f"{folder}/"
        self._seen: set[tuple[int, str]] = set()
        self._found: set[str] = set()
        self.running: dict[int, str] = {}  # the programs of those found last, by id
        self.used = Used()  # by these, and their children that have ended
        self.recorded: dict[int, float] = {}  # CPU seconds at the last look that found it
        self.names: dict[int, str] = {}  # their own names at that look
        self._unrecorded: dict[int, float] = {}  # the seconds of others at the last look

    def look(self) -> None:
        self.running, self.used = {}, Used()
        for pid in _descendants():
            name, its, of_children = used_by(pid)
            self.used += its + of_children
            own = _own_seconds(pid, its.seconds)
            program, is_recorded = _program_of(pid), self._is_recorded(pid)
            if not program or is_recorded is None:
                continue
            self.running[pid] = program
            if is_recorded:
                self.recorded[pid], self.names[pid] = own, name
                self._unrecorded.pop(pid, None)
                continue
            self.names.pop(pid, None)
            self._unrecorded[pid] = own - self.recorded.get(pid, 0.0)
            if (pid, program) in self._seen or not os.path.isabs(program):
                continue
            self._seen.add((pid, program))
            try:
                if os.path.isfile(program) and len(self._found) < MOST_NAMED:
                    check_program(Path(program), [], one_line(program))
            except CannotPreload as error:
                self._found.add(str(error))

    def _is_recorded(self, pid: int) -> bool | None:
        """None: it is just ending."""
        try:
            return self._folder in (_PROC / str(pid) / "maps").read_text(errors="replace")
        except PermissionError:  # a recorded process may have taken other rights
            return any(Path(self._folder).glob(f"{pid}-*.raw"))
        except OSError:
            return None

    def forget_ended(self) -> None:
        for known in (self.recorded, self.names):
            for pid in known.keys() - self.running.keys():
                del known[pid]

    @property
    def gone_on(self) -> set[int]:
        """The processes that run and are not recorded. They may have been, before an exec."""
        return self.running.keys() - self.names.keys()

    @property
    def unrecorded_seconds(self) -> float:
        """CPU time of processes without the recorder. The kernel adds it to no other process if
        their parent ignores their ends."""
        return sum(self._unrecorded.values())

    def warnings(self) -> list[str]:
        return [f"a child was not recorded: {reason}" for reason in sorted(self._found)]


def _descendants() -> Iterator[int]:
    pending = [os.getpid()]
    while pending:
        with suppress(OSError, ValueError):
            for task in (_PROC / str(pending.pop()) / "task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                yield from children
                pending += children


class Pace:
    """When to look at them. One may end without noting its time, and its own parent may wait for
    it. Then its CPU time since the last look is lost. All in seconds of one clock. `due`: when the
    next look is."""

    def __init__(self, now: float) -> None:
        self._pause, self._earliest = FIRST, now
        self.due = now + FIRST

    def begun(self, now: float) -> None:
        """A process has begun."""
        self._pause = FIRST
        self.due = min(self.due, max(self._earliest, now + FIRST))

    def looked(self, began: float, ended: float) -> None:
        self._earliest = ended + min(LAST, _BETWEEN * (ended - began))
        self._pause = min(LAST, self._pause * GROWTH)
        self.due = max(self._earliest, ended + self._pause)
