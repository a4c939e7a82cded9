"""Runs the command, hands signals on to it, and tells of events meanwhile.

A terminal's Ctrl-C reaches the command by itself, as it is in the same process group. A signal to
asterope-record alone is sent on. All signals are blocked, and taken one by one. So they do not end
asterope-record before the recording is written.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path

from ..ending import FAILS, sandbox_words, signal_name
from .descendants import Pace, used_by
from .kernel import Used

_SENT_ON = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
_TAKEN = (*_SENT_ON, signal.SIGUSR2, signal.SIGCHLD)
_TURN = 0.02  # seconds between two looks for new files

_PR_SET_CHILD_SUBREAPER = 36

_ASAN_FORGIVES = "verify_asan_link_order=0"

# Python ignores these signals, and a program inherits that.
PYTHON_IGNORES = (signal.SIGPIPE, signal.SIGXFSZ)


class Event(Enum):
    SNAPSHOT = "SIGUSR2 came"
    DURATION = "the duration is over"
    TURN = "a while has passed"


def forgiving() -> dict[str, str]:
    """A setting for gcc's address sanitizer. Otherwise it ends a program that has another library
    before the sanitizer's."""
    options = filter(None, (os.environ.get("ASAN_OPTIONS"), _ASAN_FORGIVES))
    return {"ASAN_OPTIONS": ":".join(options)}


def environment_with(library: Path, folder: Path) -> dict[str, str]:
    """An environment that loads the recorder before the libraries that are preloaded already."""
    both = ":".join(filter(None, (str(library), os.environ.get("LD_PRELOAD"))))
    ours = {"LD_PRELOAD": both, "ASTEROPE_RECORD": str(folder)}
    return {**os.environ, **forgiving(), **ours}


adopting = False


def adopt_orphans(do: bool) -> None:
    """`do`: from now on, processes that descendants leave running become this process's children,
    in any session or group."""
    global adopting
    adopting = do
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(do), 0, 0, 0)


class Running:
    """The command."""

    def __init__(
        self, program: Path, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        """`folder`: where its processes make files. Raises OSError where it cannot be started."""
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
        # If SIGCHLD is ignored, waiting tells nothing. As under timeout(1), the command does not
        # ignore it either.
        self._at_ends = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._folder, self._files = folder, set[str]()
        self.ended: str | None = None  # how it failed, empty if it did not; None: it has not ended
        self.used = Used()  # by the processes that have ended
        # By process id, the name that each of these had in the end, and its own CPU seconds.
        self.waited_for: dict[int, tuple[str, float]] = {}
        # as the kernel names it: 15 bytes
        self.name = os.fsencode(program.name)[:15].decode("utf-8", "replace")
        adopt_orphans(True)
        try:
            self.pid = os.posix_spawn(
                program, list(command), environment, setsigmask=self._mask, setsigdef=PYTHON_IGNORES
            )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Restores the handling of signals, and drops those that came and were not sent on."""
        adopt_orphans(False)
        while signal.sigtimedwait(_TAKEN, 0) is not None:
            pass
        signal.signal(signal.SIGCHLD, self._at_ends)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def events(self, duration: float | None) -> Iterator[Event]:
        """Yields events until the command has ended, and `ended` is set."""
        began = time.monotonic()
        deadline, pace = math.inf if duration is None else began + duration, Pace(began)
        while True:
            self._look()
            if self.ended is not None:
                return
            at = min(pace.due, deadline, time.monotonic() + _TURN)
            came = signal.sigtimedwait(_TAKEN, max(0.0, at - time.monotonic()))
            now = time.monotonic()
            if self._has_new_file():
                pace.begun(now)
            if came is None:
                if now >= deadline:
                    deadline = math.inf
                    yield Event.DURATION
                elif now >= pace.due:
                    yield Event.TURN
                    pace.looked(now, time.monotonic())
            elif came.si_signo == signal.SIGUSR2:
                yield Event.SNAPSHOT
            elif came.si_signo != signal.SIGCHLD and came.si_code <= 0:  # not from the terminal
                self._send(came.si_signo)

    def _has_new_file(self) -> bool:
        """Whether a process has begun since the last time, as each makes a file."""
        before = self._files
        with contextlib.suppress(OSError):  # after the duration the folder is gone
            self._files = set(os.listdir(self._folder))
        return bool(self._files - before)

    def _send(self, number: int) -> None:
        self._look()
        if self.ended is None:  # else the pid may be another's by now
            os.kill(self.pid, number)

    def _look(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                # It is not reaped yet: /proc tells of it until then.
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
                if ended is None:
                    return
                cause = sandbox_words(ended.si_pid, ended.si_status)
                name, _, of_children = used_by(ended.si_pid)
                pid, status, usage = os.wait4(ended.si_pid, 0)
                seconds = usage.ru_utime + usage.ru_stime
                self.used += Used(seconds, usage.ru_stime, usage.ru_minflt)
                self.waited_for[pid] = name, max(0.0, seconds - of_children.seconds)
                if pid == self.pid:
                    code = os.waitstatus_to_exitcode(status)
                    self.ended = f"{FAILS} {code}" if code else ""
                    if code < 0:
                        self.ended = f"the command was killed by {signal_name(-code)}{cause}"
