"""What small copies take in a program, from single timings and from the trace in a row."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from asterope.record.estimate import Estimates, estimate
from asterope.record.recorder import time_trace
from asterope.record.small_calls import RANGE_FACTOR, TimeTrace
from conftest import BUILD
from made_up_processes import CALIBRATION, TICK_HZ, Kind, burst_call, made_up_process

CALLS = 2_000_000
ALONE = 16e-9  # seconds of a small copy that is timed alone
LIBRARY = BUILD / "libasterope_record.so"


def of(kind: Kind, time_trace: TimeTrace | None, pieces: int = 4) -> Estimates:
    burst = [burst_call(kind.size, 7)] * 128
    process = dataclasses.replace(made_up_process([kind]), bursts=[burst] * pieces)
    return estimate([process], CALIBRATION, time_trace)


def takes(seconds: float) -> TimeTrace:
    return lambda trace: seconds * TICK_HZ


def no_library(trace: object) -> float:
    raise OSError


def test_small_copies_take_what_they_take_in_a_row_and_not_alone() -> None:
    found = of(Kind(16, CALLS, ALONE), takes(2e-9)).copy_seconds
    assert found is not None
    assert found.value == pytest.approx(CALLS * 2e-9, rel=0.1)
    assert found.low <= found.value / RANGE_FACTOR and found.high >= found.value * RANGE_FACTOR


def test_a_wait_for_memory_is_added_and_an_interrupt_is_not() -> None:
    kind = Kind(16, CALLS, ALONE, lambda chance: 5e-6 if chance.random() < 0.02 else ALONE)
    cached = of(kind, takes(2e-9)).copy_seconds
    waits = of(dataclasses.replace(kind, source_cached=0.5), takes(2e-9)).copy_seconds
    assert cached is not None and waits is not None
    assert cached.value == pytest.approx(CALLS * 2e-9, rel=0.1)
    assert waits.value > 10 * cached.value  # half of them wait for some 200 ns


def test_a_row_never_takes_longer_than_single_ones() -> None:
    found = of(Kind(16, CALLS, ALONE), takes(1e-6)).copy_seconds
    assert found is not None and found.value == pytest.approx(CALLS * ALONE, rel=0.1)


@pytest.mark.parametrize("size", [2048, 65536])
def test_large_copies_take_what_was_timed(size: int) -> None:
    kind = Kind(size, 20_000, 5e-6)
    assert of(kind, takes(1e-9)).copy_seconds == of(kind, None).copy_seconds


def test_without_a_trace_or_a_library_single_timings_stay() -> None:
    kind = Kind(16, CALLS, ALONE)
    alone = of(kind, None).copy_seconds
    assert of(kind, no_library).copy_seconds == alone
    assert of(kind, takes(2e-9), pieces=1).copy_seconds == alone  # 128 calls say too little


def test_time_in_fresh_pages_is_told_apart() -> None:
    found = of(Kind(65536, 20_000, 20e-6, destination_cached=0.0, fresh=0.75), None)
    (band,) = (band for band in found.bands if band.calls)
    assert band.fresh == pytest.approx(0.75, abs=0.1)
    uncached = sum(one.time for one in band.situations if not one.destination_cached)
    assert uncached == pytest.approx(1, abs=0.01)
    assert not any(band.fresh for band in of(Kind(65536, 20_000, 20e-6), None).bands)


# --- The library's part ---------------------------------------------------------------------------


def library() -> Path:
    if not LIBRARY.is_file():
        pytest.skip("libasterope_record.so is not built")
    return LIBRARY


def test_calls_of_a_trace_are_timed_whatever_their_number_and_misalignment() -> None:
    for calls in (
        [(0, 0, 0)],
        [(2047, 63, 63)] * 3,
        [(i % 300, i % 64, i % 61) for i in range(5000)],
    ):
        ticks = time_trace(library(), calls)
        assert 0 <= ticks < 1e7


def test_a_trace_of_large_calls_or_none_is_refused() -> None:
    for calls in ([(16, 0, 0), (2048, 0, 0)], []):
        with pytest.raises(OSError, match="cannot be timed"):
            time_trace(library(), calls)
