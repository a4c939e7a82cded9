"""The command's processes as /proc shows them: what they took, and which cannot be recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..one_line import one_line
from ..program import CannotPreload, check_program

_PROC = Path("/proc")

MOST_NAMED = 10


def cpu_seconds_of(pid: int) -> float | None:
    """User and system time of a process that runs; None: it does not any more."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


class Unrecorded:
    """Children that nothing can be preloaded into. They are looked for now and then: those that
    live shortly may be missed."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, str]] = set()
        self._found: set[str] = set()

    def look(self, root: int) -> None:
        for pid in _family(root):
            try:
                program = os.readlink(_PROC / str(pid) / "exe")
            except OSError:
                continue
            if (pid, program) in self._seen:
                continue
            self._seen.add((pid, program))
            try:
                if os.path.isfile(program) and len(self._found) < MOST_NAMED:
                    check_program(Path(program), [], one_line(program))
            except CannotPreload as error:
                self._found.add(str(error))

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
