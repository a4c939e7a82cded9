"""The command's processes as /proc shows them: what they took, and which cannot be recorded."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..faults import one_line
from ..program import CannotPreload, check_program
from .kernel import Used

_PROC = Path("/proc")

MOST_NAMED = 10


def used_by(pid: int) -> tuple[str, Used, Used]:
    """A process's own name, which an exec changes; its use of the CPU, and that of the children
    that it waited for. An ended process has them, too, until its parent waits for it."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
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
    """By the kernel's clock of a process (CPUCLOCK_SCHED), as /proc has whole ticks alone."""
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:  # it is gone
        return otherwise


def programs_running() -> dict[int, str]:
    """The programs of this process's descendants, by process id."""
    running = {}
    for pid in _family(os.getpid()):
        with suppress(OSError):  # it is just ending
            running[pid] = os.readlink(_PROC / str(pid) / "exe")
    running.pop(os.getpid(), None)
    return running


class Descendants:
    """Of this process. They are looked for now and then: those that live shortly may be missed."""

    def __init__(self, folder: Path) -> None:
        """`folder`: of the session."""
        self._folder = f"{folder}/"
        self._seen: set[tuple[int, str]] = set()
        self._found: set[str] = set()
        self.running: dict[int, str] = {}  # those found last, and their programs
        self.used = Used()  # by these, and their children that have ended
        self.recorded: dict[int, float] = {}  # CPU seconds when they were seen to be recorded last
        self.names: dict[int, str] = {}  # of these, what each called itself then
        self._unrecorded: dict[int, float] = {}  # of others, when they were seen last

    def look(self) -> None:
        self.running, self.used = {}, Used()
        for pid in _family(os.getpid()):
            if pid == os.getpid():
                continue
            name, its, of_children = used_by(pid)
            self.used += its + of_children
            own = _own_seconds(pid, its.seconds)
            try:
                program = os.readlink(_PROC / str(pid) / "exe")
                maps = (_PROC / str(pid) / "maps").read_text(errors="replace")
            except OSError:  # it is just ending
                continue
            self.running[pid] = program
            if self._folder in maps:
                self.recorded[pid], self.names[pid] = own, name
                self._unrecorded.pop(pid, None)
                continue
            self.names.pop(pid, None)
            self._unrecorded[pid] = own - self.recorded.get(pid, 0.0)
            if (pid, program) in self._seen:
                continue
            self._seen.add((pid, program))
            try:
                if os.path.isfile(program) and len(self._found) < MOST_NAMED:
                    check_program(Path(program), [], one_line(program))
            except CannotPreload as error:
                self._found.add(str(error))

    def forget_ended(self) -> None:
        for known in (self.recorded, self.names):
            for pid in known.keys() - self.running.keys():
                del known[pid]

    @property
    def gone_on(self) -> set[int]:
        """Those that run and are not recorded, though they may have been: by an exec."""
        return self.running.keys() - self.names.keys()

    @property
    def unrecorded_seconds(self) -> float:
        """CPU time that no process accounts for, as a parent ignores the ends of its children."""
        return sum(self._unrecorded.values())

    def warnings(self) -> list[str]:
        return [f"a child was not recorded: {reason}" for reason in sorted(self._found)]


def _family(root: int) -> Iterable[int]:
    pending = [root]
    while pending:
        pid = pending.pop()
        yield pid
        try:
            for task in (_PROC / str(pid) / "task").iterdir():
                pending += [int(child) for child in (task / "children").read_text().split()]
        except (OSError, ValueError):
            continue
