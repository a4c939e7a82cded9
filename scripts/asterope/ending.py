"""The signal that ended a process, and whether the process's own sandbox was the cause."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

FAILS = "the command failed with exit code"
OF_SANDBOXES = (
    ", as it restricts itself (seccomp) in a way that the preloaded library does not see: run it "
    "without its sandbox"
)
_STRICT = ("Seccomp:\t1\n", "Seccomp:\t3\n")  # 3: what Linux 5.16 notes of one that it killed


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def sandbox_words(pid: int, number: int) -> str:
    """A hint if a sandbox seems to be the cause of the signal to a program with a preloaded
    library. It may allow fewer system calls than the library makes, or no time stamp. Empty if it
    does not seem so. `pid`: of a process that was not reaped yet. A filter kills by
    SIGSYS; strict seccomp by SIGKILL and, for the time stamp, by SIGSEGV."""
    if number == signal.SIGSYS:
        return OF_SANDBOXES
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
        if number in (signal.SIGKILL, signal.SIGSEGV) and any(one in status for one in _STRICT):
            return OF_SANDBOXES
    return ""
