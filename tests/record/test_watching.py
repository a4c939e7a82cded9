"""What happens to a copy first: it is read, overwritten, or neither within the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from asterope.record.raw import RawProcess
from recorded_programs import ALL, Recorder

TIMES = 4


@pytest.fixture
def watched(recorder: Recorder, check: Path):
    """Runs a program that does so with each of its copies; skips where nothing can be watched."""

    def run(how: str) -> RawProcess:
        recorder.run(check, "touched", how, TIMES, period=ALL)
        process = recorder.only()
        if process.flags.watch_errno:
            pytest.skip(f"perf_event_open: errno {process.flags.watch_errno}")
        return process

    return run


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("read", "read"),
        ("copied", "read"),
        ("overwritten", "written"),
        ("untouched", "window"),
        ("late", "window"),
    ],
)
def test_outcomes_are_told_apart(watched, how: str, outcome: str) -> None:
    watches = watched(how).watches
    assert {watch.outcome for watch in watches} == {outcome}
    for watch in watches:
        assert watch.size == 64
        if outcome == "window":
            assert (watch.after_ns, watch.same_thread, watch.bytes_after) == (None, None, None)
        else:
            assert watch.same_thread
            assert watch.bytes_after in range(1000)


@pytest.mark.parametrize(("how", "outcome"), [("sent", "read"), ("received", "written")])
def test_what_the_kernel_does_for_the_program_counts(watched, how: str, outcome: str) -> None:
    """Where it may be watched: an unprivileged user may not, and sees nothing of it."""
    outcomes = {watch.outcome for watch in watched(how).watches}
    assert outcomes in ({outcome}, {"window"})


def test_another_thread_is_seen_and_told_from_the_one_that_copied(watched) -> None:
    watches = watched("handed over").watches
    assert {(watch.outcome, watch.same_thread) for watch in watches} == {("read", False)}


def test_a_thread_that_begins_later_is_not_seen(watched) -> None:
    assert {watch.outcome for watch in watched("elsewhere").watches} == {"window"}


def test_watchpoints_leave_no_trace(watched, recorder: Recorder, check: Path) -> None:
    watched("read")
    recorder.run(check, "files", period=ALL)
