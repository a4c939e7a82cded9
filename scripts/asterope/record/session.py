"""A session: the folder that processes record into, what is known of the run, and its recording."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ..scratch_folder import scratch_folder
from .descendants import Descendants
from .facts import Facts
from .launching import Running
from .raw import read_folder
from .recorder import place_for_files, request_stop
from .recording import make_recording, recorded_cpu_seconds


class Session:
    """Of a command that runs now."""

    def __init__(self, facts: Facts) -> None:
        """Raises OSError where there is no place for the folder."""
        place = Path(place_for_files() or tempfile.gettempdir())
        self._stack = ExitStack()
        self.folder = self._stack.enter_context(scratch_folder("asterope-record-", place))
        if os.geteuid() == 0:
            # Servers give up root's rights and fork: such children may make their files, too, but
            # not see the others'.
            self.folder.chmod(0o1733)
        self.descendants = Descendants(self.folder)
        self._facts = facts
        self._began = time.monotonic()

    def recording(self, running: Running) -> dict[str, Any]:
        """Of what was recorded so far. Raises OSError."""
        seconds = time.monotonic() - self._began
        self.descendants.look()
        processes, faults = read_folder(self.folder)
        ended = running.ended
        recorded = recorded_cpu_seconds(processes, self.descendants.recorded)
        cpu_seconds = running.cpu_seconds + self.descendants.cpu_seconds
        facts = dataclasses.replace(
            self._facts,
            seconds=seconds,
            cpu_seconds=max(cpu_seconds, recorded + self.descendants.unrecorded_seconds),
            recorded_seconds=recorded,
            complete=ended is not None,
            outlived_by=len(self.descendants.running) if ended else 0,
        )
        warnings = [*faults, *self.descendants.warnings()]
        if facts.outlived_by:
            names = sorted({Path(name).name for name in self.descendants.running.values()})
            warnings.insert(0, f"still running when the command ended: {', '.join(names)[:200]}")
        if ended is not None and ended.failure:
            warnings.insert(0, ended.failure)
        return make_recording(processes, facts, warnings)

    def stop(self) -> None:
        """Nothing is recorded from now on, while the command goes on; processes that begin now find
        no folder."""
        with suppress(OSError):
            request_stop(self.folder)

    def remove(self) -> None:
        """What still runs goes on without being counted."""
        self.stop()
        self._stack.close()
