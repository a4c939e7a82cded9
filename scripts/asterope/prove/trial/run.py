"""Runs a command in a trial. A short one runs again until its places are known."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...faults import Failure
from ...preload_link import preloadable
from ...program import Called, Program
from ...record.descendants import Descendants, Pace
from ...record.others import why_no_verdict
from ...record.pool import own_cpu_seconds
from ...record.raw import RawError, left_files, read_process
from ...record.recorder import admit_other_users, closed_to_others, place_for_files
from ...scratch_folder import scratch_folder
from ..placeholders import filled
from ..processes import Process, outlived_words
from .blocks import CLOSED, FULL, LIMITS, NO_COUNTER, NO_WAY, QUIET, UNSEEN, Observed
from .file import TrialError, read_trial
from .findings import Found, findings
from .ways import Way, environment, names_of

_TURN = 0.02  # seconds between two checks for the command's end
_PATIENCE = 3.0  # seconds that it has to end after SIGTERM
_UNNOTED = 0.002  # seconds of CPU time of a process, before it loads the library and at its end
_LEAST_UNSEEN = 0.01  # seconds of CPU time: less of them is not worth a word
_HOPELESS = 50  # runs: if nothing is known after these, the trial ends
_BETWEEN = 3  # the next look comes after this many times the seconds of the last one
KNOWN, TIME, ENDED, MERGED = "known", "time", "ended", "merge"


class CommandFailed(Failure):
    """The command itself, in a trial."""


class NoVerdict(Failure):
    """The trial was hindered, or has seen nothing."""


@dataclass
class Tried:
    """The observations of these ways."""

    ways: Sequence[Way]
    observed: Observed = field(default_factory=Observed)
    called: Called | None = None  # the command's program
    stopped_by: str = ""
    is_endless: bool = False  # its only run did not end by itself before the time was over
    said: set[tuple[str, str]] = field(default_factory=set)  # of processes, on other libraries
    _found: Found | None = None  # of all that is observed
    _tick_hz: tuple[float, float] = (0.0, 0.0)  # seconds in which it was seen, and the rate
    _clocks: dict[int, float] = field(default_factory=dict)  # of processes whose files are gone
    _known: dict[int, float] = field(default_factory=dict)  # CPU time by process, as last seen

    @property
    def names(self) -> list[str]:
        return names_of(self.ways)

    def found(self) -> Found:
        if self._found is None:
            map_way = next((way.name for way in self.ways if way.is_whole), None)
            names = [name for name in self.names if name != map_way]
            self._found = findings(self.observed, names, map_way)
        return self._found

    def read(
        self, folder: Path, in_operation: bool = False, files: Sequence[Path] | None = None
    ) -> None:
        """Adds the data that the processes left there. In operation a process's time counts from
        its library's start: before it, asterope-prove may have used the process, and process ids
        come again. `files`: reads these alone, and removes them once a clock's rate is known."""
        self._found, left = None, []
        for path in folder.glob("*.raw") if files is None else files:
            with suppress(RawError, OSError):  # one that ended before it began
                if not path.stat().st_size:
                    self.observed.limits.add(FULL)
                left.append((path, read_process(path)))
        if not left and files is None:
            try:
                tempfile.TemporaryFile(dir=folder).close()
            except OSError:
                self.observed.limits.add(FULL)
        left.sort(key=lambda one: one[1].started)
        processes = [process for _, process in left]
        self.said.update(*(process.others for process in processes))
        # All share one clock, and a short process cannot tell its rate.
        clocks = ((one.seconds, one.tick_hz) for one in processes if one.tick_hz)
        self._tick_hz = max([self._tick_hz, *clocks])
        if files is not None and not self._tick_hz[1]:
            return  # the files stay until a process has lived long enough
        # A process that has restricted its system calls goes on without a trial.
        quiet = {one.pid: one.cpu_seconds for one in processes if "quiet" in one.flags}
        self.observed.restricted += sum(
            max(0.0, self._known.get(pid, 0.0) - noted) for pid, noted in quiet.items()
        )
        if in_operation:
            own = [max(0.0, one.cpu_seconds - one.cpu_before) for one in processes]
        else:
            noted = {*quiet, *(process.pid for process in processes if process.has_ended)}
            known = {pid: seconds for pid, seconds in self._known.items() if pid not in noted}
            own = own_cpu_seconds(processes, known, self._clocks)
        for (path, process), seconds in zip(left, own):
            with suppress(TrialError, OSError):
                if not process.tick_hz:
                    process = replace(process, tick_hz=self._tick_hz[1])
                one = read_trial(path, process, self.names, seconds, self.called)
                if in_operation and "quiet" in process.flags and not one.lived:
                    one.untimed = 1
                self.observed.add(one)
        for path in files or ():
            path.unlink(missing_ok=True)


class Trial(Tried):
    """`seconds`: of all runs together."""

    def __init__(
        self,
        program: Program,
        ways: Sequence[Way],
        recorder: Path,
        seconds: float,
        cpus: Collection[int] | None = None,
    ) -> None:
        super().__init__(ways, called=program.called)
        self.program, self.recorder, self.seconds, self.cpus = program, recorder, seconds, cpus
        self._cpu_seconds = 0.0  # of the last run
        self._short: set[str] = set()  # names of files, each for a kind of short processes

    def measure(self, tell: Callable[[str], None]) -> None:
        """Sets the reason to stop. Raises CommandFailed and OSError; the observations until then
        are kept."""
        self.stopped_by = "failure"
        try:
            self.stopped_by = self._measured(tell)
        except Failure as error:
            raise CommandFailed(str(error)) from None

    def _measured(self, tell: Callable[[str], None]) -> str:
        began = since = time.monotonic()
        longest = looked = 0.0
        while True:
            left = self.seconds - (time.monotonic() - began)
            start = time.monotonic()
            tell(f"run {self.observed.runs + 1}, about {max(0.0, left):.0f} s left")
            if not self._run(left):
                self.is_endless = self.observed.runs == 1
                return TIME
            longest = max(longest, time.monotonic() - start)
            now = time.monotonic()
            if now - since >= _BETWEEN * looked:
                is_hopeless = self.observed.runs >= _HOPELESS and self.found().is_hopeless
                is_daemon = bool(self.observed.outlived_by)
                if not self.observed.places or is_hopeless or is_daemon:
                    return ENDED
                is_known, since = self.found().is_known, time.monotonic()
                looked = since - now
                if is_known:
                    return KNOWN
            # the last look at the findings takes a part of the time
            if time.monotonic() - began + longest + looked > self.seconds:
                return TIME

    def _run(self, limit: float) -> bool:
        """Whether the command ended by itself within so many seconds."""
        with scratch_folder("asterope-trial-", place_for_files()) as folder:
            files = folder / "files"
            files.mkdir(0o700)
            admit_other_users(files)
            closed = closed_to_others(files)
            for name in self._short:
                (files / name).touch()
            began, before = time.monotonic(), self.observed.wall_seconds
            known_before, processes = self.observed.known_seconds, self.observed.processes
            self._cpu_seconds, self._clocks = 0.0, {}
            try:
                return self._run_into(files, limit)
            finally:
                lasted = time.monotonic() - began
                self.observed.runs += 1
                self.observed.lasted += lasted
                self.read(files)
                known = self.observed.known_seconds - known_before
                self._short = {path.name for path in files.glob("*.short")}
                # Processes beside each other, as a shell and its child, share that time.
                self.observed.wall_seconds = min(self.observed.wall_seconds, before + lasted)
                unknown = self._cpu_seconds - known
                ends = _UNNOTED * (self.observed.processes - processes)
                if self.observed.limits & {NO_COUNTER, QUIET}:
                    # The restricted part may be shorter than `ends`, so that is not subtracted.
                    self.observed.restricted += max(0.0, unknown)
                elif unknown - ends > max(_LEAST_UNSEEN, known):
                    self.observed.limits |= {UNSEEN} if closed is None else {UNSEEN, CLOSED}

    def _run_into(self, folder: Path, limit: float) -> bool:
        with filled(self.program.command) as command:
            variables = environment(preloadable(self.recorder, folder.parent), folder, self.ways)
            began = time.monotonic()
            process = Process(command, variables, self.cpus)
            try:
                with closing(process):
                    return self._follow(process, folder, began + limit)
            finally:
                self.observed.used += process.used

    def _follow(self, process: Process, folder: Path, deadline: float) -> bool:
        family, pace, files = Descendants(folder), Pace(time.monotonic()), set[str]()
        self._known = family.recorded
        while not process.has_ended():
            now = time.monotonic()
            if now > deadline:
                process.end(_PATIENCE)
                return False
            before, files = files, set(os.listdir(folder))
            if files - before:
                pace.begun(now)
            if now >= pace.due:
                family.look()
                # now, as the files of thousands of children would fill the memory
                self.read(folder, files=left_files(folder))
                family.forget_ended()
                pace.looked(now, time.monotonic())
            time.sleep(_TURN)
        run = process.wait(None, self.program.called)
        self._cpu_seconds = run.used.seconds
        self.observed.outlived_by.update(run.outlived_by)
        return True


def why_not(trial: Tried) -> str | None:
    """Says why there is no verdict, even if copies were seen; None: nothing hindered the trial."""
    observed = trial.observed
    if observed.outlived_by:
        return outlived_words(observed.outlived_by)
    other = why_no_verdict(trial.said, bool(observed.places))
    if other is not None:
        return other
    if FULL in observed.limits and not observed.places:
        return "there is no room for its figures: have TMPDIR name a folder with more"
    if not observed.processes:
        return (
            "the program did not load the library: its environment was cleared, it is linked "
            "statically or privileged, or another user runs it"
        )
    for limit in (NO_COUNTER, NO_WAY, CLOSED, UNSEEN, QUIET):
        if limit in observed.limits and not observed.places:
            return LIMITS[limit]
    return None
