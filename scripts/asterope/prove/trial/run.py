"""Runs a command in a trial, again while it is short, until its places are known."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ...faults import Failure
from ...preload_link import preloadable
from ...program import Program
from ...record.raw import RawError, read_process
from ...record.recorder import place_for_files
from ..places import Place as Folder
from ..places import placeholders_in
from ..processes import Process
from .blocks import Observed
from .file import TrialError, read_trial
from .findings import Found, findings
from .ways import Way, environment, names_of

_TURN = 0.02  # seconds between two looks whether the command has ended
_PATIENCE = 3.0  # seconds that it has to end after SIGTERM
_LOOKS = 1.3  # so many times the runs until the next look at what is known
KNOWN, TIME, ENDED = "known", "time", "ended"


@dataclass
class Trial:
    """`seconds`: of all runs together."""

    program: Program
    ways: Sequence[Way]
    recorder: Path
    seconds: float
    cpus: Collection[int] | None = None

    def __post_init__(self) -> None:
        self.observed = Observed()
        self.stopped_by = ""
        self._next_look = 1

    @property
    def names(self) -> list[str]:
        return names_of(self.ways)

    def found(self) -> Found:
        return findings(self.observed, self.names)

    def measure(self, tell: Callable[[str], None]) -> None:
        """Raises Failure; what was seen until then is kept."""
        began, longest = time.monotonic(), 0.0
        while True:
            left = self.seconds - (time.monotonic() - began)
            start = time.monotonic()
            tell(f"run {self.observed.runs + 1}, about {max(0.0, left):.0f} s left")
            if not self._run(left):
                self.stopped_by = TIME
                return
            longest = max(longest, time.monotonic() - start)
            if self.observed.runs >= self._next_look:
                self._next_look = max(self.observed.runs + 1, int(self.observed.runs * _LOOKS))
                if not self.observed.places or self.found().is_known:
                    self.stopped_by = KNOWN if self.observed.places else ENDED
                    return
            if time.monotonic() - began + longest > self.seconds:
                self.stopped_by = TIME
                return

    def _run(self, limit: float) -> bool:
        """Whether the command ended by itself within so many seconds."""
        with tempfile.TemporaryDirectory(dir=place_for_files(), prefix="asterope-trial-") as name:
            folder = Path(name)
            files = folder / "files"
            files.mkdir(0o700)
            try:
                return self._run_into(files, limit)
            finally:
                self.observed.runs += 1
                self._read(files)

    def _run_into(self, folder: Path, limit: float) -> bool:
        program = self.program
        with closing(Folder(with_port=False)) as place:
            if placeholders_in(program.arguments):
                program = replace(program, arguments=place.fill(program.arguments))
            variables = environment(preloadable(self.recorder, folder.parent), folder, self.ways)
            command = [str(program.file), *program.arguments]
            began = time.monotonic()
            with closing(Process(command, variables, self.cpus)) as process:
                while not process.has_ended():
                    if time.monotonic() - began > limit:
                        _end(process)
                        return False
                    time.sleep(_TURN)
                process.wait()
        return True

    def _read(self, folder: Path) -> None:
        """Adds what one run saw, each pair of periods under a name of its own."""
        for path in sorted(folder.glob("*.raw")):
            with suppress(RawError, TrialError, OSError):  # one that ended before it began
                one = read_trial(path, read_process(path), self.names)
                self.observed.add(one)


def _end(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + _PATIENCE
    while not process.has_ended() and time.monotonic() < deadline:
        time.sleep(_TURN)


def why_not(trial: Trial) -> str | None:
    """Why nothing was seen; None where that is what the program is like."""
    observed = trial.observed
    if not observed.processes:
        return (
            "the program did not load the library: its environment was cleared, or it is linked "
            "statically or privileged"
        )
    for limit in sorted(observed.limits):
        if limit in ("no counter", "no way") and not observed.places:
            return limit
    return None


def fails_alone(trial: Trial) -> str | None:
    """How the command fails without the library, too; None: it does not."""
    program = trial.program
    variables = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    with closing(Folder(with_port=False)) as place:
        arguments = place.fill(program.arguments)
        with closing(Process([str(program.file), *arguments], variables, trial.cpus)) as process:
            try:
                process.wait(trial.seconds)
            except Failure as error:
                return str(error)
    return None
