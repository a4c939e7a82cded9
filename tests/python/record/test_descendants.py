"""When the command's processes are looked at: by a clock that is made up."""

from __future__ import annotations

import pytest
from asterope.record.descendants import FIRST, GROWTH, LAST, Pace


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
