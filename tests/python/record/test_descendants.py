"""When the command's processes are looked at, by a clock that is made up, and which are found."""

from __future__ import annotations

import subprocess
import sys

import pytest
from asterope.record.descendants import FIRST, GROWTH, LAST, Pace
from command_errors import SCRIPTS


def look_until(pace: Pace, end: float, takes: float = 0.0) -> list[float]:
    looks = []
    while pace.due < end:
        looks.append(pace.due)
        pace.looked(pace.due, pace.due + takes)
    return looks


@pytest.mark.parametrize("begun", [0.0, 33.3])
@pytest.mark.parametrize("lives", [0.02, 0.1, 0.33, 2.0, 8.0])
def test_what_a_process_takes_after_the_last_look_is_a_small_part(begun, lives: float) -> None:
    pace = Pace(0.0)
    look_until(pace, begun)
    pace.begun(begun)
    *_, last = look_until(pace, begun + lives)
    assert begun + lives - last <= FIRST + (GROWTH - 1) * lives


def test_a_program_that_runs_long_is_looked_at_seldom() -> None:
    pace = Pace(0.0)
    look_until(pace, 60.0)
    assert len(look_until(pace, 120.0)) == pytest.approx(60 / LAST, abs=2)


def test_looks_that_take_long_take_a_part_of_the_time() -> None:
    """Though processes begin all the time."""
    pace, now, spent = Pace(0.0), 0.0, 0.0
    while now < 60:
        now += 0.001
        pace.begun(now)
        if now >= pace.due:
            pace.looked(now, now + 0.02)
            now, spent = now + 0.02, spent + 0.02
    assert spent < 60 / 10


OTHER_RIGHTS = """
import ctypes, os, pathlib
from asterope.record.descendants import Descendants, programs_running
folder = pathlib.Path()  # in a folder that others may not enter
folder.chmod(0o777)
ready, goes_on = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: its user may not look into it
    os.close(goes_on[1])
    os.write(ready[1], b"x")
    os.read(goes_on[0], 1)
    os._exit(0)
os.read(ready[0], 1)
if os.geteuid() == 0:
    os.setuid(65534)
descendants = Descendants(folder)
descendants.look()
assert set(descendants.running) == set(programs_running()) == descendants.gone_on == {child}
(folder / f"{child}-0.raw").touch()
descendants.look()
assert set(descendants.running) == {child} and not descendants.gone_on
os.close(goes_on[1])
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
descendants.look()
assert not descendants.running and not programs_running()
"""


def test_processes_with_other_rights_are_found_and_recorded_if_they_have_a_file(tmp_path) -> None:
    code = (sys.executable, "-c", OTHER_RIGHTS)
    subprocess.run(code, cwd=tmp_path, env={"PYTHONPATH": str(SCRIPTS)}, check=True, timeout=60)
