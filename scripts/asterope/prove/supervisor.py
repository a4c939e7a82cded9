"""Two processes, one that works and one that waits: whichever is killed, the other ends what was
started and removes its files.

The working one starts the programs itself, as it would alone; the other sleeps: what is timed has
no third party. (Rejected: a supervisor between this process and each program, which would take
part in starting it, and could not outlive a SIGKILL itself.)
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..ending import signal_name
from ..faults import Failure
from ..interrupt import SIGNALS
from .processes import adopt_orphans, end_children, send_at_parents_end

_PREFIX, _MARK = "asterope-prove-", ".in-use"


def supervised(work: Callable[[], int]) -> int:
    """Forks. Returns in both processes what `work` returned in the child, where it may raise, too;
    all temporary files of the child lie in a folder that is removed. Raises Failure in the parent
    where a signal ended the child."""
    parent = os.getpid()
    awaited = {*SIGNALS, signal.SIGCHLD}
    with _temporary_folder() as folder:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        child = os.fork()
        if child == 0:
            os.setsid()  # what kills the parent's group is not to kill both
            adopt_orphans()
            send_at_parents_end(signal.SIGTERM)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            if os.getppid() != parent:
                raise KeyboardInterrupt
            tempfile.tempdir = str(folder)
            try:
                return work()
            finally:
                end_children()  # an interrupt may have come while a program was being started
        adopt_orphans()
        status = _wait(child, awaited)
        end_children()
    if os.WIFSIGNALED(status):
        raise Failure(f"was ended by {signal_name(os.WTERMSIG(status))}")
    return os.WEXITSTATUS(status)


def _wait(child: int, awaited: set[signal.Signals]) -> int:
    """Hands signals on until the child ends; returns its status."""
    while True:
        came = signal.sigwait(awaited)
        if came != signal.SIGCHLD:
            os.kill(child, came)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """In use as long as one of the two processes lives: they have its mark locked. Those of runs
    of which both were killed go."""
    base = Path(tempfile.gettempdir())
    for mark in base.glob(f"{_PREFIX}*/{_MARK}"):
        with suppress(OSError), _locked(mark):
            shutil.rmtree(mark.parent, ignore_errors=True)
    with ExitStack() as stack:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            mark = folder / _MARK
            try:
                mark.touch()
                stack.enter_context(_locked(mark))
            except (BlockingIOError, FileNotFoundError):
                continue  # another run took it for left over just now
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise
            if mark.exists():
                break
        yield folder


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Raises OSError: somebody else has it locked, or it is not ours."""
    descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
