"""Starts processes that end with this one, waits for them, and keeps their use and output."""

from __future__ import annotations

import ctypes
import os
import random
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..ending import sandbox_words, signal_name
from ..faults import Failure, one_line
from ..interrupt import SIGNALS
from ..program import Called
from ..record import launching
from ..record.descendants import programs_running, used_by
from ..record.kernel import Used
from ..scratch_folder import scratch_folder

_PR_SET_PDEATHSIG = 1
# A program may keep its variables in its heap. Then their length decides how its buffers lie to
# each other modulo 4096, and so how fast they are copied. Each copy has variables of its own.
# This one has a random length. Else a copy would have the same luck in all its runs, and no
# interval would show that.
_PADDING, _MOST_PADDING = "ASTEROPE_PADDING", 8 << 10
_MOST_OUTPUT = 16 << 20  # bytes that are read of a program's output: its end has the summary
_TURN = 0.02  # seconds between two looks
_MOMENT = 0.2  # seconds that other processes of the command have to end after it
# A process that goes on matters if the command took less than this many times its CPU time.
_LITTLE = 10
# With fewer seconds of CPU time the command has only started another process, which matters.
_NOTICED = 0.05
_LIBC = ctypes.CDLL(None)


def send_at_parents_end(number: int) -> None:
    """This process gets that signal when the one that started it ends, however it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, number)


def end_children() -> None:
    """Kills all children, and their children once they are adopted, until the last one is gone. It
    leaves those of another user alone. It does nothing in a process that adopts no orphans."""
    while launching.adopting:
        children: list[int] = []
        for path in Path("/proc/self/task").glob("*/children"):  # some kernels do not list them
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
                children += map(int, path.read_text().split())
        ended = []
        for pid in children:
            with suppress(PermissionError):
                os.kill(pid, signal.SIGKILL)
                ended.append(pid)
        if not ended:
            return
        for pid in ended:
            os.waitpid(pid, 0)


@dataclass(frozen=True)
class Run:
    """One run of a command: its seconds by the clock, the CPU time of it and its children, and its
    output, stdout first. `outlived_by`: programs that went on after it, and matter."""

    wall: float
    used: Used
    output: str
    outlived_by: Collection[str] = ()


class Process:
    """A command in a process group of its own. Its output goes to files: a reader of a pipe would
    take part in the measurement."""

    _running = 0  # number of those that run; while one runs, an orphan may be a child of it

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cpus: Collection[int] | None = None,
        keep_output: bool = False,
    ) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  until close()
        self._output = tempfile.TemporaryFile() if keep_output else None  # noqa: SIM115

        def enter() -> None:
            send_at_parents_end(signal.SIGKILL)
            if cpus:
                os.sched_setaffinity(0, cpus)

        self._began = time.monotonic()
        try:
            self._process = subprocess.Popen(
                command,
                env={**environment, _PADDING: "-" * random.randrange(_MOST_PADDING)},
                preexec_fn=enter,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=self._output or subprocess.DEVNULL,
                stderr=self._errors,
            )
        except BaseException as error:
            self._close_files()
            if isinstance(error, OSError):
                raise Failure(f"cannot be started: {error.strerror}") from None
            raise
        self.pid = self._process.pid
        self.used = Used()  # known at its end; counts the children for which it waited, too
        self._is_preloaded, self._cause = "LD_PRELOAD" in environment, ""
        Process._running += 1

    def has_ended(self) -> bool:
        """Does not reap the process, so that the system gives its number to no other."""
        options = os.WEXITED | os.WNOWAIT | os.WNOHANG
        return self._process.returncode is not None or bool(os.waitid(os.P_PID, self.pid, options))

    def wait(self, limit: float | None = None, program: Called | None = None) -> Run:
        """Waits for its end, and kills the processes that it left running. Raises Failure if the
        command ends with an error, or not within `limit` s. `program`: the command's, to see which
        of its processes go on."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._send(signal.SIGKILL)

        timer = threading.Timer(limit or threading.TIMEOUT_MAX, stop)
        timer.daemon = True
        timer.start()
        try:
            self._wait_for_end()
            wall = time.monotonic() - self._began
        finally:
            timer.cancel()
            timer.join()
        go_on, done = _running_after(program) if program else (set[str](), 0.0)
        self._reap()
        try:
            if late.is_set():
                raise Failure(f"was ended after {limit:.0f} s without a result")
            if self._process.returncode != 0:
                raise Failure(self.how_it_ended())
            stdout = _end_of(self._output) if self._output else ""
            # A helper that stays, and has done little, does not matter.
            outlived_by = go_on if self.used.seconds < max(_NOTICED, _LITTLE * done) else set()
            return Run(wall, self.used, stdout + _end_of(self._errors), outlived_by)
        finally:
            self._close_files()

    def _wait_for_end(self) -> None:
        """Wakes every second to let Python handle signals. Python handles a signal that comes right
        before a waiting call only after that call."""
        try:
            end = os.pidfd_open(self.pid)
        except OSError:  # before Linux 5.3
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            return
        try:
            while not select.select([end], [], [], 1)[0]:
                pass
        finally:
            os.close(end)

    def how_it_ended(self) -> str:
        """Says "ended with exit code 1: ", for example, then its last line on stderr."""
        if self._process.returncode is None:
            self._reap()
        code = self._process.returncode
        how = f"ended with exit code {code}"
        if code < 0:
            how = f"was ended by {signal_name(-code)}{self._cause}"
        lines = [line.strip() for line in _end_of(self._errors, 8192).splitlines() if line.strip()]
        return f"{how}: {one_line(lines[-1])[:300]}" if lines else how

    def end(self, patience: float) -> None:
        """Asks its group to end, and waits at most so many seconds for it."""
        self._send(signal.SIGTERM)
        deadline = time.monotonic() + patience
        while not self.has_ended() and time.monotonic() < deadline:
            time.sleep(_TURN)

    def close(self) -> None:
        """Ends it and all of its group."""
        if self._process.returncode is None:
            self._send(signal.SIGKILL)
            self._reap()
        self._close_files()

    def _send(self, number: int) -> None:
        """To its group, and only before it is reaped: later another may have its number."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _reap(self) -> None:
        """Reaps the process, and ends those that it left running."""
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        if self._is_preloaded and ended is not None:
            self._cause = sandbox_words(self.pid, ended.si_status)
        self._send(signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        self.used = Used(usage.ru_utime + usage.ru_stime, usage.ru_stime, usage.ru_minflt)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        Process._running -= 1
        if not Process._running:
            end_children()  # those that left the group

    def _close_files(self) -> None:
        for file in (self._errors, self._output):
            if file:
                file.close()


def _end_of(file: IO[bytes], most: int = _MOST_OUTPUT) -> str:
    # It does not seek: a process that still writes shares the position in the file.
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), most, max(0, size - most)).decode(errors="replace")


# --- Processes that go on after the command: no figure counts their time ---


def _running_after(program: Called) -> tuple[set[str], float]:
    """Returns the programs of descendants that still run after the command's end, and their CPU
    time. They get a moment to end, as processes of a pipeline need one."""
    deadline = time.monotonic() + _MOMENT
    while True:
        running = programs_running()
        if not running or time.monotonic() > deadline:
            used = [each for pid in running for each in used_by(pid)[1:]]
            seconds = sum(each.seconds for each in used)
            return {Path(program.name_of(name)).name for name in running.values()}, seconds
        time.sleep(_TURN)


def outlived_words(programs: Collection[str]) -> str:
    names = one_line(", ".join(sorted(programs)))[:200]
    return (
        f"still running when the command ended: {names}: prove a command that ends when its work "
        "is done (no daemon)"
    )


# --- A process that outlives this one ---


def supervised(work: Callable[[], int]) -> int:
    """Forks, and calls `work` in the child, where it may raise. Returns its result in both
    processes. If either is killed, the other ends the programs that were started. All temporary
    files of the child lie in a folder that is removed. Raises Failure in the parent if a signal
    ended the child.

    The child starts the programs itself, as it would alone, and the parent sleeps. So no third
    process takes part in a timed run. (Rejected: a supervisor between this process and each
    program. It would take part in each start, and could not outlive a SIGKILL itself.)
    """
    parent = os.getpid()
    awaited = {*SIGNALS, signal.SIGCHLD}
    with scratch_folder("asterope-prove-", Path(tempfile.gettempdir())) as folder:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # nobody is told of ends that are ignored
        child = os.fork()
        if child == 0:
            os.setsid()  # a signal to the parent's group must not kill both
            launching.adopt_orphans(True)
            send_at_parents_end(signal.SIGTERM)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            if os.getppid() != parent:
                raise KeyboardInterrupt
            tempfile.tempdir = str(folder)
            try:
                return work()
            finally:
                end_children()  # an interrupt may have come while a program was being started
        launching.adopt_orphans(True)
        ended = 0
        while not ended:  # it hands signals on until the child ends
            came = signal.sigwait(awaited)
            if came != signal.SIGCHLD:
                os.kill(child, came)
            ended, status = os.waitpid(child, os.WNOHANG)
        end_children()
    if os.WIFSIGNALED(status):
        raise Failure(f"was ended by {signal_name(os.WTERMSIG(status))}")
    return os.WEXITSTATUS(status)
