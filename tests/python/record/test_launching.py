"""What happens while the command runs is said as it happens."""

from __future__ import annotations

import math
import os
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
    script = f": >{files}/1-0.raw; read x <{looked}"
    with Running(Path("/bin/sh"), ["sh", "-c", script], dict(os.environ), files) as running:
        for event in running.events(duration=30):
            assert event is Event.TURN
            looked.write_text("x\n")
    assert running.ended == ""
