"""A session: the folder that processes record into, what is known of the run, and its recording."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .descendants import Unrecorded, cpu_seconds_of
from .facts import FILE_NAME, Facts, facts_text, read_facts, this_machine
from .launching import Ended
from .raw import RawProcess, read_folder
from .recorder import place_for_files, request_stop
from .recording import make_recording
from .small_calls import TimeTrace


class Session:
    """Of a command that runs now."""

    def __init__(self, facts: Facts, time_trace: TimeTrace) -> None:
        """Raises OSError where there is no place for the folder."""
        self.folder = Path(tempfile.mkdtemp(prefix="asterope-record-", dir=place_for_files()))
        if os.geteuid() == 0:
            # Servers give up root's rights and fork: such children may make their files, too, but
            # not see the others'.
            self.folder.chmod(0o1733)
        self.unrecorded = Unrecorded()
        self._facts, self._time_trace = facts, time_trace
        self._began = time.monotonic()
        self._note(facts)

    def _note(self, facts: Facts) -> None:
        """For asterope-record --from; a full disk takes that away, and no more."""
        with contextlib.suppress(OSError):
            (self.folder / FILE_NAME).write_text(facts_text(facts), encoding="utf-8")

    def recording(self, ended: Ended | None) -> dict[str, Any]:
        """Of what was recorded so far; `ended`: the command has. Raises OSError."""
        processes, faults = read_folder(self.folder)
        cpu_seconds = ended.cpu_seconds if ended else _cpu_seconds_so_far(processes)
        facts = dataclasses.replace(
            self._facts,
            seconds=time.monotonic() - self._began,
            cpu_seconds=cpu_seconds,
            complete=ended is not None,
        )
        self._note(facts)
        warnings = [*faults, *self.unrecorded.warnings()]
        if ended is not None and ended.failure:
            warnings.insert(0, ended.failure)
        return make_recording(processes, facts, warnings, self._time_trace)

    def stop(self) -> None:
        """Nothing is recorded from now on, while the command goes on; processes that begin now find
        no folder."""
        with contextlib.suppress(OSError):
            request_stop(self.folder)

    def remove(self) -> None:
        """What still runs goes on without being counted."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _cpu_seconds_so_far(processes: Sequence[RawProcess]) -> float:
    """Of those that run what the system says, of the others what they noted last."""
    noted: dict[int, float] = {}
    for process in processes:
        noted[process.pid] = max(noted.get(process.pid, 0.0), process.cpu_seconds)
    return sum(max(last, cpu_seconds_of(pid) or 0.0) for pid, last in noted.items())


def recording_from(folder: Path, time_trace: TimeTrace | None) -> dict[str, Any]:
    """Of a session whose recording could not be written. Raises OSError; ValueError where the
    folder is no session's."""
    facts = read_facts(folder)
    processes, faults = read_folder(folder)
    if facts.machine != this_machine():
        time_trace = None
    return make_recording(processes, facts, faults, time_trace)
