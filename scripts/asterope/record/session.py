"""A session: the folder that processes record into, the facts of the run, and its recording."""

from __future__ import annotations

import dataclasses
import os
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ..program import Called
from ..scratch_folder import scratch_folder
from .descendants import Descendants
from .facts import Facts
from .launching import Running
from .pool import Pool
from .raw import left_files, read_folder
from .recorder import admit_other_users, closed_to_others, place_for_files, request_stop
from .recording import make_recording

MOST_FAULTS = 10  # of files that cannot be read


class Session:
    """The session of a command that runs now."""

    def __init__(self, facts: Facts) -> None:
        """Raises OSError if there is no place for the folder."""
        self._stack = ExitStack()
        folder = scratch_folder("asterope-record-", place_for_files())
        self.folder = self._stack.enter_context(folder)
        admit_other_users(self.folder)
        self.descendants = Descendants(self.folder)
        self._left, self._faults = Pool(), list[str]()
        self._facts = dataclasses.replace(facts, closed=closed_to_others(self.folder))
        self._began = time.monotonic()

    def look(self, running: Running) -> None:
        """Looks at the running processes, now and then. Adds up the files that ended ones have
        left, and removes these, as they take memory. Raises OSError."""
        self.descendants.look()
        left = [path for path in left_files(self.folder) if not _is_to_be_waited_for(path)]
        processes, faults = read_folder(self.folder, left)
        self._left.add(processes, *self._known(running), gone_on=self.descendants.gone_on)
        self._faults = [*self._faults, *faults][:MOST_FAULTS]
        for path in left:
            with suppress(OSError):
                path.unlink()
        # Other processes may have these numbers from now on.
        running.waited_for.clear()
        self.descendants.forget_ended()

    def _known(self, running: Running) -> tuple[dict[int, float], set[int]]:
        """CPU seconds by process id, and the processes of which that is all the time. These were
        waited for, and recorded to their end: no exec has made another program of them."""
        names = {running.pid: running.name, **self.descendants.names}
        waited_for = {
            pid: seconds
            for pid, (name, seconds) in running.waited_for.items()
            if name and name == names.get(pid)
        }
        return {**self.descendants.recorded, **waited_for}, set(waited_for)

    def recording(self, running: Running) -> dict[str, Any]:
        """The figures recorded so far. Raises OSError."""
        seconds = time.monotonic() - self._began
        self.look(running)
        pool = self._left.copy()
        processes, faults = read_folder(self.folder)
        ended = running.ended
        gone_on, have_ended = self.descendants.gone_on, ended is not None
        pool.add(processes, *self._known(running), gone_on=gone_on, have_ended=have_ended)
        recorded = pool.cpu_seconds
        used = running.used + self.descendants.used
        facts = dataclasses.replace(
            self._facts,
            seconds=seconds,
            cpu_seconds=max(used.seconds, recorded + self.descendants.unrecorded_seconds),
            used=used,
            recorded_seconds=recorded,
            complete=ended is not None,
            outlived_by=len(self.descendants.running) if ended else 0,
        )
        warnings = [*self._faults, *faults, *self.descendants.warnings()]
        if facts.outlived_by:
            program = Called(facts.executable, facts.command[0])
            running = map(program.name_of, self.descendants.running.values())
            names = sorted({Path(name).name for name in running})
            warnings.insert(0, f"still running when the command ended: {', '.join(names)[:200]}")
        if ended is not None and ended.failure:
            warnings.insert(0, ended.failure)
        return make_recording(pool, facts, warnings)

    def stop(self) -> None:
        """Asks all processes to record no further, while the command goes on."""
        with suppress(OSError):
            request_stop(self.folder)

    def remove(self) -> None:
        """Running processes go on without being counted. Those that begin now find no folder."""
        self.stop()
        self._stack.close()


def _is_to_be_waited_for(path: Path) -> bool:
    """Whether this process has yet to wait for the file's process, a child that has ended. Then it
    learns the CPU time of that child."""
    pid = path.name.partition("-")[0]
    try:
        options = os.WEXITED | os.WNOWAIT | os.WNOHANG
        return pid.isdecimal() and os.waitid(os.P_PID, int(pid), options) is not None
    except (ChildProcessError, OverflowError):
        return False
