"""Samples stand for all calls: a call of any size has the chance that it should have."""

from __future__ import annotations

import math
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from asterope.record.raw import class_start, class_start_of, read_process, request_stop
from recorded_programs import ALL, Recorder, size_class

SEEDS = range(8)
PERIOD = 200_000
# The calls of record_check mixture 40000: function, size, number.
MIXTURE = [
    ("memcpy", 10, 40_000),
    ("memmove", 300, 10_000),
    ("memcpy", 5000, 2_500),
    ("memset", 100_000, 625),
]


def chance(size: int) -> float:
    return 1 - math.exp(-(size_class(size)[0] + 256) / PERIOD)


def test_each_size_is_sampled_as_often_as_its_work_says(recorder: Recorder, check: Path) -> None:
    """Within four standard deviations of the binomial distribution."""
    for seed in SEEDS:
        recorder.run(check, "mixture", 40_000, period=PERIOD, seed=seed)
    sampled = Counter(
        (s.function, s.size) for process in recorder.processes() for s in process.samples
    )
    assert set(sampled) == {(function, size) for function, size, _ in MIXTURE}
    for function, size, calls in MIXTURE:
        mean = calls * len(SEEDS) * chance(size)
        deviation = math.sqrt(mean * (1 - chance(size)))
        assert abs(sampled[function, size] - mean) < 4 * deviation, (function, size)


def test_the_first_call_of_a_class_is_no_more_likely_than_others(recorder, check):
    for seed in range(60):
        recorder.run(check, "copies", 100, 1, period=3 * (96 + 256), seed=seed)
    sampled = sum(process.drawn for process in recorder.processes())
    mean = 60 * (1 - math.exp(-1 / 3))
    assert abs(sampled - mean) < 4 * math.sqrt(mean)


def test_the_same_seed_draws_the_same_calls(recorder: Recorder, check: Path) -> None:
    for _ in range(2):
        recorder.run(check, "mixture", 20_000, period=PERIOD, seed=5)
    one, two = recorder.processes()
    assert one.drawn == two.drawn > 50
    assert [s.size for s in one.samples] == [s.size for s in two.samples]


def test_each_call_is_kept_and_timed_where_all_are_drawn(recorder: Recorder, check: Path) -> None:
    recorder.run(check, "mixture", 640, period=ALL)
    process = recorder.only()
    assert process.drawn == len(process.samples) == 640 + 160 + 40 + 10
    assert {sample.weight for sample in process.samples} == {1}
    timed = Counter(sample.size for sample in process.samples if sample.ticks is not None)
    assert (timed[10], timed[300], timed[5000]) == (640, 160, 40)
    assert timed[100_000] > 0  # a long one that lost its CPU is not timed


def test_memory_is_bounded_and_early_calls_are_kept_as_late_ones(recorder, check):
    calls, room = 50_000, 4_096
    recorder.run(check, "halves", calls, period=ALL, seed=1)
    (path,) = recorder.folder.iterdir()
    assert path.stat().st_size < 16 << 20
    process = recorder.only()
    assert process.drawn == 2 * calls
    kept = Counter(sample.size for sample in process.samples)
    assert sum(kept.values()) == room
    assert abs(kept[16] - room / 2) < 4 * math.sqrt(room) / 2
    assert process.samples[0].weight == pytest.approx(2 * calls / room)


def test_callers_are_in_the_modules_that_were_loaded(recorder: Recorder, check: Path) -> None:
    plugin = check.with_name("plugin.so")
    recorder.run(check, "plugin", plugin, 3, period=ALL)
    process = recorder.only()
    assert {sample.site.module for sample in process.samples} == {str(plugin)}


def test_a_process_that_runs_can_be_read_and_told_to_stop(recorder: Recorder, check: Path) -> None:
    environment = recorder.environment(period=50_000)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([check, "until_told"], env=environment, **pipes) as running:
        assert running.stdout.read(1) == b"x"
        (path,) = recorder.folder.iterdir()
        calls = [read_process(path).counts["memcpy"][(16, 18)] for _ in range(15)]
        assert calls == sorted(calls)
        request_stop(recorder.folder)
        deadline = time.monotonic() + 30  # for how long to wait, not for what comes out
        before = None
        while before != (now := read_process(path).counts) and time.monotonic() < deadline:
            before = now
            time.sleep(0.05)
        assert before == now
        running.stdin.close()
        assert running.wait() == 0
    assert recorder.only().counts == now


def test_a_class_begins_where_the_one_before_ends() -> None:
    for number in range(496):
        start = class_start(number)
        end = class_start(number + 1)
        assert size_class(start) == (start, end)
        assert class_start_of(start) == class_start_of(end - 1) == start
