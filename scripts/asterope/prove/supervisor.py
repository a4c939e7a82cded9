"""One process works and another waits. If either is killed, the other ends the programs that were
started, and removes their files.

The working one starts the programs itself, as it would alone, and the other sleeps. So no third
process takes part in a timed run. (Rejected: a supervisor between this process and each program. It
would take part in each start, and could not outlive a SIGKILL itself.)
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..ending import signal_name
from ..faults import Failure
from ..interrupt import SIGNALS
from ..scratch_folder import scratch_folder
from .processes import adopt_orphans, end_children, send_at_parents_end

_PREFIX = "asterope-prove-"


def supervised(work: Callable[[], int]) -> int:
    """Forks, and calls `work` in the child, where it may raise. Returns its result in both
    processes. All temporary files of the child lie in a folder that is removed. Raises Failure in
    the parent if a signal ended the child."""
    parent = os.getpid()
    awaited = {*SIGNALS, signal.SIGCHLD}
    with scratch_folder(_PREFIX, Path(tempfile.gettempdir())) as folder:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        child = os.fork()
        if child == 0:
            os.setsid()  # a signal to the parent's group must not kill both
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
