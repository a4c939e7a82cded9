"""A session: the folder that processes record into, the facts of the run, and its recording."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ..program import Called
from ..scratch_folder import scratch_folder
from .descendants import Descendants
from .launching import Running
from .pool import Pool
from .raw import left_files, read_folder, request_stop
from .recorder import admit_other_users, closed_to_others, place_for_files
from .recording import Facts, make_recording, this_machine

MOST_FAULTS = 10  # of files that cannot be read


class Session:
    """The session of a command that runs now."""

    def __init__(self, command: list[str], executable: str) -> None:
        """`executable`: the command's program. Raises OSError if there is no place for the
        folder."""
        self._command, self._executable = command, executable
        self._stack = ExitStack()
        folder = scratch_folder("asterope-record-", place_for_files())
        self.folder = self._stack.enter_context(folder)
        admit_other_users(self.folder)
        self.descendants = Descendants(self.folder)
        self._left, self._faults = Pool(), list[str]()
        self._started, self._began = time.time(), time.monotonic()

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
        """CPU seconds by process id, and the processes of which these are final. These were waited
        for, and recorded to their end: no exec has made another program of them."""
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
        pool, ended, family = self._left.copy(), running.ended, self.descendants
        processes, faults = read_folder(self.folder)
        known, to_the_end = self._known(running)
        pool.add(processes, known, to_the_end, family.gone_on, have_ended=ended is not None)
        used = running.used + family.used
        facts = Facts(
            command=self._command,
            executable=self._executable,
            machine=this_machine(),
            started=self._started,
            seconds=seconds,
            cpu_seconds=max(used.seconds, pool.cpu_seconds + family.unrecorded_seconds),
            complete=ended is not None,
            recorded_seconds=pool.cpu_seconds,
            outlived_by=len(family.running) if ended is not None else 0,
            closed=closed_to_others(self.folder),
            used=used,
        )
        warnings = [*self._faults, *faults, *family.warnings()]
        if facts.outlived_by:
            program = Called(self._executable, self._command[0])
            names = sorted({Path(program.name_of(one)).name for one in family.running.values()})
            warnings.insert(0, f"still running when the command ended: {', '.join(names)[:200]}")
        if ended:
            warnings.insert(0, ended)
        return make_recording(pool, facts, warnings)

    def stop(self) -> None:
        """Asks all processes to record no further, while the command goes on."""
        with suppress(OSError):
            request_stop(self.folder)

    def close(self) -> None:
        """Running processes stop at their next sample. Processes that begin now find no folder."""
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
