"""What happens while the command runs is said as it happens."""

from __future__ import annotations

import math
import os
import subprocess
import sys
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


BESIDE_A_THREAD = """
import os, sys, threading
from pathlib import Path
from asterope.record.launching import Running
threading.Thread(target=threading.Event().wait, daemon=True).start()
files = Path(sys.argv[1])
with Running(Path("/bin/true"), ["true"], dict(os.environ), files) as running:
    (files / "1-0.raw").touch()
    for _ in running.events(None):
        pass
"""


def test_a_process_that_begins_ends_nothing_where_a_thread_blocks_no_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BESIDE_A_THREAD, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, timeout=60, check=False)
    assert done.returncode == 0
