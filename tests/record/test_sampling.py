"""Samples stand for all calls: each with the chance that it should have, whatever its size."""

from __future__ import annotations

import math
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from asterope.record.raw import RawProcess, class_start, read_process
from asterope.record.recorder import request_stop
from recorded_programs import ALL, Recorder, size_class

SEEDS = range(8)
PERIOD = 200_000
# What record_check mixture 40000 does: function, size, calls.
MIXTURE = [
    ("memcpy", 10, 40_000),
    ("memmove", 300, 10_000),
    ("memcpy", 5000, 2_500),
    ("memset", 100_000, 625),
]


def chance(size: int) -> float:
    """Of being sampled."""
    return 1 - math.exp(-(size_class(size)[0] + 256) / PERIOD)


@pytest.fixture
def mixtures(recorder: Recorder, check: Path) -> list[RawProcess]:
    for seed in SEEDS:
        recorder.run(check, "mixture", 40_000, period=PERIOD, seed=seed)
    return recorder.processes()


def test_each_size_is_sampled_as_often_as_its_work_says(mixtures: list[RawProcess]) -> None:
    """Within four standard deviations of the binomial distribution."""
    sampled = Counter((s.function, s.size) for process in mixtures for s in process.samples)
    assert set(sampled) == {(function, size) for function, size, _ in MIXTURE}
    for function, size, calls in MIXTURE:
        mean = calls * len(SEEDS) * chance(size)
        deviation = math.sqrt(mean * (1 - chance(size)))
        assert abs(sampled[function, size] - mean) < 4 * deviation, (function, size)


def test_bytes_estimated_from_samples_are_those_that_were_copied(
    mixtures: list[RawProcess],
) -> None:
    """Weighted by their chance alone, without the exact counts."""
    true = sum(size * calls for _, size, calls in MIXTURE) * len(SEEDS)
    estimates = [s.size / chance(s.size) for process in mixtures for s in process.samples]
    variance = sum(e * e * (1 - chance(s.size)) for e, s in zip(estimates, every(mixtures)))
    assert abs(sum(estimates) - true) < 4 * math.sqrt(variance)


def every(processes: list[RawProcess]) -> list:
    return [sample for process in processes for sample in process.samples]


def test_the_first_call_of_a_class_is_no_more_likely_than_others(
    recorder: Recorder, check: Path
) -> None:
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


def test_what_is_known_of_a_call_is_kept(recorder: Recorder, check: Path) -> None:
    recorder.run(check, "mixture", 640, period=ALL)
    process = recorder.only()
    assert process.drawn == len(process.samples) == 640 + 160 + 40 + 10
    offsets = {
        ("memcpy", 10): (3, 5, False),
        ("memmove", 300): (50, 100, True),
        ("memcpy", 5000): (200_000 % 4096, 0, False),
        ("memset", 100_000): (0, 300_000 % 4096, False),
    }
    for sample in process.samples:
        found = (sample.source_offset, sample.destination_offset, sample.overlap)
        assert found == offsets[sample.function, sample.size]
        assert (sample.source_ticks is None) or sample.function != "memset"
        assert sample.stands_for == 1
    times = [sample.monotonic_ns for sample in process.samples]
    assert times == sorted(times)


def test_half_of_the_calls_are_probed_and_small_ones_that_are_have_no_time(
    recorder: Recorder, check: Path
) -> None:
    """Nor has a call any while a place is watched, which makes copies slow."""
    recorder.run(check, "mixture", 6400, period=ALL)
    samples = recorder.only().samples
    probed = [sample for sample in samples if sample.destination_resident is not None]
    assert abs(len(probed) - len(samples) / 2) < 4 * math.sqrt(len(samples)) / 2
    timed = [sample for sample in samples if sample.copy_ticks is not None]
    assert {sample.size for sample in timed} == {sample.size for sample in samples}
    for sample in samples:
        if sample.destination_resident is None:
            assert (sample.source_ticks, sample.destination_ticks) == (None, None)
        else:
            assert sample.size >= 2048 or sample.copy_ticks is None
            assert (sample.destination_ticks is not None) == sample.destination_resident


def test_memory_is_bounded_and_early_calls_are_kept_as_late_ones(
    recorder: Recorder, check: Path
) -> None:
    calls = 50_000
    recorder.run(check, "halves", calls, period=ALL, seed=1)
    (path,) = recorder.folder.iterdir()
    assert path.stat().st_size < 16 << 20
    process = recorder.only()
    assert process.drawn == 2 * calls
    kept = Counter(sample.size for sample in process.samples)
    room = 16_384
    assert sum(kept.values()) == room
    assert abs(kept[16] - room / 2) < 4 * math.sqrt(room) / 2
    assert process.samples[0].stands_for == pytest.approx(2 * calls / room)
    assert len(process.bursts) == 256


def test_callers_are_in_the_modules_that_were_loaded(recorder: Recorder, programs: Path) -> None:
    recorder.run(programs / "record_check", "plugin", programs / "plugin.so", period=ALL)
    process = recorder.only()
    paths = set()
    for sample in process.samples:
        (module,) = [m for m in process.modules if m.start <= sample.caller < m.end]
        paths.add(module.path)
    assert paths == {str(programs / "plugin.so")}
    assert process.executable == str(programs / "record_check")


def test_a_burst_has_calls_in_their_order(recorder: Recorder, check: Path) -> None:
    recorder.run(check, "mixture", 2000, period=ALL)
    bursts = recorder.only().bursts
    assert len(bursts) > 5
    order = []
    for i in range(64):
        order.append(10)
        order += [300] * (i % 4 == 0) + [5000] * (i % 16 == 0) + [100_000] * (i % 64 == 0)
    forever = order * 5
    for burst in bursts:
        sizes = [call.size for call in burst]
        starts = range(len(order))
        assert any(forever[start : start + len(sizes)] == sizes for start in starts)
        assert len(burst) <= 128 and burst[0].gap_ticks == 0
    assert max(map(len, bursts)) == 128
    modulo = {10: (3, 5), 300: (50, 36), 5000: (200_000 % 64, 0), 100_000: (0, 300_000 % 64)}
    for call in (call for burst in bursts for call in burst):
        assert (call.source_mod, call.destination_mod) == modulo[call.size]
    pages = {call.destination_page for burst in bursts for call in burst if call.size == 5000}
    assert len(pages) == 1


# --- While the program runs -----------------------------------------------------------------------


def test_a_process_that_runs_can_be_read_and_told_to_stop(recorder: Recorder, check: Path) -> None:
    command = [check, "until_told"]
    environment = recorder.environment(period=50_000)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, **pipes) as running:
        assert running.stdout.read(1) == b"x"
        (path,) = recorder.folder.iterdir()
        last = 0
        for _ in range(15):
            process = read_process(path)
            calls = process.counts["memcpy"][(16, 18)]
            assert calls >= last
            last = calls
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
        assert size_class(start) == (start, class_start(number + 1))
