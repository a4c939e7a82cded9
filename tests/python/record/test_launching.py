"""What happens while the command runs is said as it happens."""

from __future__ import annotations

import math
import os
import signal
from contextlib import closing
from pathlib import Path

from asterope.record import launching
from asterope.record.launching import Event, Running


class Waiting:
    """No look is due until a process begins; then one is, and that process waits for it."""

    def __init__(self, _: float) -> None:
        self.due = math.inf

    def begun(self, now: float) -> None:
        self.due = now

    def looked(self, *_: float) -> None:
        self.due = math.inf


def test_a_process_that_begins_is_looked_at(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(launching, "Pace", Waiting)
    files, looked = tmp_path / "files", tmp_path / "looked"
    files.mkdir()
    os.mkfifo(looked)
    shell = ["sh", "-c", f": >{files}/1-0.raw; read x <{looked}"]
    with closing(Running(Path("/bin/sh"), shell, dict(os.environ), files)) as running:
        for event in running.events(duration=30):
            assert event is Event.TURN
            looked.write_text("x\n")
    assert running.ended == ""


def test_the_end_is_seen_though_the_end_of_children_was_ignored(tmp_path: Path) -> None:
    """As after trap '' CHLD in a shell."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with closing(Running(Path("/bin/sh"), ["sh", "-c", "exit 3"], {}, tmp_path)) as running:
            assert not any(event is Event.DURATION for event in running.events(duration=5))
        assert running.ended == "the command failed with exit code 3"
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_long_name_is_that_which_the_kernel_has(tmp_path: Path) -> None:
    """Of 15 bytes, which may end within a character."""
    program = tmp_path / "zw\u00f6lf-k\u00f6che-\u00f6\u00f6\u00f6"
    program.symlink_to("/bin/sleep")
    with closing(Running(program, ["sleep", "0"], {}, tmp_path)) as running:
        list(running.events(duration=None))
    assert running.name == running.waited_for[running.pid][0]
