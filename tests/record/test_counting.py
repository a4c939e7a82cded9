"""Calls are counted exactly: each function, in threads, children and signal handlers, whatever ends
the process."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from asterope.record.raw import RawProcess
from recorded_programs import ALL, Recorder, copies, said

# Few samples, some, and each call.
PERIODS = [None, 3000, ALL]


def counts_of_all(*counts: dict) -> list[dict]:
    return sorted(counts, key=repr)


def counts_of(processes: list[RawProcess]) -> list[dict]:
    return counts_of_all(*(process.counts for process in processes))


@pytest.mark.parametrize("period", PERIODS)
def test_each_function_is_counted_by_size(recorder: Recorder, check: Path, period: int | None):
    done = recorder.run(check, "functions", period=period)
    assert recorder.only().counts == said(done)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("calls", [0, 1, 2, 1000])
def test_few_calls_are_counted_as_many_are(
    recorder: Recorder, check: Path, calls: int, period: int | None
) -> None:
    recorder.run(check, "copies", 100, calls, period=period)
    assert recorder.only().counts == copies(100, calls)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("count", [1, 3, 64, 200])
def test_threads_at_once_are_counted_each(
    recorder: Recorder, check: Path, count: int, period: int | None
) -> None:
    recorder.run(check, "threads", count, 500, period=period)
    process = recorder.only()
    assert process.counts == copies(40, 2 * 500 * count)
    assert not process.flags.shared_slots
    assert process.threads == count + 1


def test_more_threads_than_slots_go_on_and_share(recorder: Recorder, check: Path) -> None:
    recorder.run(check, "threads", 300, 50)
    process = recorder.only()
    assert process.flags.shared_slots
    assert process.threads == 301
    assert 0 < sum(process.counts["memcpy"].values()) <= 2 * 50 * 300


@pytest.mark.parametrize("period", PERIODS)
def test_threads_in_turn_take_the_same_slots(
    recorder: Recorder, check: Path, period: int | None
) -> None:
    recorder.run(check, "threads_in_turn", 1000, 30, period=period)
    process = recorder.only()
    assert process.counts == copies(40, 30_000)
    assert not process.flags.shared_slots
    assert process.threads == 1001
    assert sum(path.stat().st_blocks * 512 for path in recorder.folder.iterdir()) < 2 << 20


@pytest.mark.parametrize("period", PERIODS)
def test_each_child_has_a_file_of_its_own(
    recorder: Recorder, check: Path, period: int | None
) -> None:
    """One that libc knows nothing of, too: it is found out by its first call of a new size."""
    recorder.run(check, "children", 1000, period=period)
    all_of_them = (copies(16, 2000, 200, 1000), copies(32, 2000), copies(64, 1000))
    assert counts_of(recorder.processes()) == counts_of_all(*all_of_them, copies(128, 1000))
    assert len({process.pid for process in recorder.processes()}) == 4


@pytest.mark.parametrize("period", PERIODS)
def test_an_exec_begins_anew_and_loses_nothing(
    recorder: Recorder, check: Path, period: int | None
) -> None:
    recorder.run(check, "exec", 700, period=period)
    processes = recorder.processes()
    assert counts_of(processes) == counts_of_all(copies(16, 700), *[copies(32, 700)] * 3)
    assert processes[0].pid in [process.pid for process in processes[1:]]
    assert len(list(recorder.folder.glob(f"{processes[0].pid}-*.raw"))) == 2


@pytest.mark.parametrize("period", PERIODS)
def test_handlers_that_interrupt_anything_are_counted(
    recorder: Recorder, check: Path, period: int | None
) -> None:
    done = recorder.run(check, "signals", 300, period=period)
    assert recorder.only().counts == said(done)


@pytest.mark.parametrize("period", PERIODS)
def test_handlers_that_never_return_cost_at_most_the_call_they_interrupt(
    recorder: Recorder, check: Path, period: int | None
) -> None:
    handled = 300
    done = recorder.run(check, "jumps", handled, period=period)
    process, told = recorder.only(), said(done)["memcpy"]
    found = process.counts["memcpy"]
    assert found[(24, 26)] == told[(24, 26)] == handled
    assert told[(48, 52)] <= found[(48, 52)] <= told[(48, 52)] + handled
    if period == ALL:  # and sampling goes on
        assert process.drawn > told[(48, 52)] / 2


@pytest.mark.parametrize(
    ("how", "code", "more"),
    [
        ("kill", -signal.SIGKILL, ()),
        ("abort", -signal.SIGABRT, ()),
        ("null", -signal.SIGSEGV, (16, 1)),
        ("handler", 7, (24, 1)),
    ],
)
@pytest.mark.parametrize("period", PERIODS)
def test_a_process_that_dies_leaves_its_counts_and_its_status(
    recorder: Recorder, check: Path, how: str, code: int, more: tuple, period: int | None
) -> None:
    recorder.run(check, "end", how, 1000, period=period, code=code)
    assert recorder.only().counts == copies(16, 1000, *more)


def test_without_a_folder_nothing_is_recorded_and_all_goes_on(
    recorder: Recorder, check: Path, tmp_path: Path
) -> None:
    for folder in ("", "relative", str(tmp_path / "missing"), "/" + "x" * 2000):
        done = recorder.run(check, "functions", more={"ASTEROPE_RECORD": folder}, cwd=tmp_path)
        assert said(done)
    assert list(recorder.folder.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["session"]


@pytest.mark.slow
def test_counts_beyond_what_a_cell_holds_are_right(recorder: Recorder, check: Path) -> None:
    """From 2^30 on they are taken off it, at a sample; one more than the lower half holds."""
    calls = (1 << 32) + 1
    recorder.run(check, "copies", 1, calls, timeout=300)
    assert recorder.only().counts == copies(1, calls)
