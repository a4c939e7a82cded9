"""Calls are counted exactly: each function, in threads, children and signal handlers, and where a
process is killed."""

from __future__ import annotations

import signal
from functools import partial

import pytest
from recorded_programs import ALL, copies, said


@pytest.fixture(params=[None, 3000, ALL], ids=["few sampled", "some sampled", "all sampled"])
def run(request, recorder, check):
    return partial(recorder.run, check, period=request.param)


def in_order(*counts: dict) -> list[dict]:
    return sorted(counts, key=repr)


@pytest.mark.parametrize("arguments", ["functions", "signals 300"])
def test_each_function_is_counted_by_size_in_handlers_too(run, recorder, arguments):
    done = run(*arguments.split())
    assert recorder.only().counts == said(done)


# A program: what it does, its calls by size, its threads, and its return code.
PROCESSES = {
    **{f"{n} calls": (("copies", 100, n), (100, n), 1, 0) for n in (0, 1, 2, 1000)},
    **{f"{n} threads": (("threads", n, 500), (40, 2 * 500 * n), n + 1, 0) for n in (1, 3, 64, 200)},
    "threads in turn": (("threads_in_turn", 1000, 30), (40, 30_000), 1001, 0),
    "killed": (("end", "kill", 1000), (16, 1000), 1, -signal.SIGKILL),
    "aborted": (("end", "abort", 1000), (16, 1000), 1, -signal.SIGABRT),
    "a copy to nowhere": (("end", "null", 1000), (16, 1001), 1, -signal.SIGSEGV),
    "an end in a handler": (("end", "handler", 1000), (16, 1000, 24, 1), 1, 7),
}


@pytest.mark.parametrize("case", PROCESSES)
def test_a_process_leaves_its_counts_and_its_status(run, recorder, case):
    arguments, counts, threads, code = PROCESSES[case]
    run(*arguments, code=code)
    process = recorder.only()
    assert process.counts == copies(*counts)
    assert (process.threads, "shared_slots" in process.flags) == (threads, False)
    if case == "threads in turn":  # they take the same slots
        assert sum(path.stat().st_blocks * 512 for path in recorder.folder.iterdir()) < 2 << 20


def test_more_threads_than_slots_go_on_and_share(recorder, check):
    recorder.run(check, "threads", 300, 50)
    process = recorder.only()
    assert "shared_slots" in process.flags
    assert process.threads == 301
    assert 0 < sum(process.counts["memcpy"].values()) <= 2 * 50 * 300


def test_each_child_has_a_file_of_its_own(run, recorder):
    """One that libc knows nothing of, too: it is found out by its first call of a new size."""
    run("children", 1000)
    processes = recorder.processes()
    parent, child = copies(16, 2000, 200, 1000), copies(32, 2000)
    others = copies(64, 1000), copies(128, 1000)
    assert in_order(*(one.counts for one in processes)) == in_order(parent, child, *others)
    assert len({process.pid for process in processes}) == 4


def test_an_exec_begins_anew_and_loses_nothing(run, recorder):
    run("exec", 700)
    processes = recorder.processes()
    counts = in_order(*(one.counts for one in processes))
    assert counts == in_order(copies(16, 700), *[copies(32, 700)] * 3)
    assert processes[0].pid in [process.pid for process in processes[1:]]
    assert len(list(recorder.folder.glob(f"{processes[0].pid}-*.raw"))) == 2


def test_handlers_that_never_return_cost_at_most_the_call_they_interrupt(run, recorder):
    handled = 300
    done = run("jumps", handled)
    process, told = recorder.only(), said(done)["memcpy"]
    found = process.counts["memcpy"]
    assert found[(24, 26)] == told[(24, 26)] == handled
    assert told[(48, 52)] <= found[(48, 52)] <= told[(48, 52)] + handled
    if run.keywords["period"] == ALL:  # and sampling goes on
        assert process.drawn > told[(48, 52)] / 2


def test_without_a_folder_nothing_is_recorded_and_all_goes_on(recorder, check, tmp_path):
    (tmp_path / "file").touch()
    absolute = (f"{tmp_path}/missing", f"{tmp_path}/file", "/" + "x" * 2000)
    for folder in ("", "relative", *absolute):
        done = recorder.run(check, "functions", more={"ASTEROPE_RECORD": folder}, cwd=tmp_path)
        assert said(done)
    assert {path.name for path in tmp_path.rglob("*")} == {"file", "session"}


@pytest.mark.slow
def test_counts_beyond_what_a_cell_holds_are_right(recorder, check):
    """From 2^30 on they are taken off it, at a sample; one more than the lower half holds."""
    calls = (1 << 32) + 1
    recorder.run(check, "copies", 1, calls, timeout=300)
    assert recorder.only().counts == copies(1, calls)
