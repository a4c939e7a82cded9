"""Totals of made-up programs: exact calls, bytes and places, and bounds that hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asterope.record.calls import Site
from asterope.record.totals import BANDS, SMALL, totals_of
from made_up_processes import Kind, made_up_process, pool_of

SMALL_ONES = Kind(33, 8_000_000, 1e-8, spread=0.5, site=0x200)
LARGE_ONES = Kind(1 << 20, 4_000, 100e-6, spread=0.3, site=0x300)
SETS = Kind(5000, 100_000, 1e-6, function="memset", site=0x400)


def test_calls_are_exact_and_bytes_where_samples_tell_the_size() -> None:
    found = totals_of(pool_of(made_up_process([SMALL_ONES, LARGE_ONES, SETS])))
    assert found.copies.calls == pytest.approx(8_004_000, rel=1e-9)
    assert found.sets.calls == pytest.approx(100_000, rel=1e-9)
    assert found.copies.bytes == pytest.approx(33 * 8_000_000 + 4_000 * (1 << 20), rel=1e-9)
    assert found.sets.bytes == pytest.approx(5000 * 100_000, rel=1e-9)
    assert found.counts["memcpy"][(32, 36)] == 8_000_000
    assert found.copies == totals_of(pool_of(made_up_process([SMALL_ONES, LARGE_ONES]))).copies


def test_bands_hold_their_first_size_and_add_up() -> None:
    kinds = [Kind(size, 1000, 1e-8) for start in BANDS[1:] for size in (start - 1, start)]
    found = totals_of(pool_of(made_up_process(kinds)))
    expected = [1000, *[2000] * (len(BANDS) - 2), 1000]
    assert [band.calls for band in found.bands] == pytest.approx(expected)
    assert sum(band.bytes for band in found.bands) == pytest.approx(found.copies.bytes)


def test_small_sizes_are_told_one_by_one() -> None:
    """A class is divided as its samples are, and is its middle where it has none."""
    kinds = [Kind(32, 3_000_000, 1e-8), Kind(33, 1_000_000, 1e-8), Kind(300, 5, 1e-8)]
    sizes = totals_of(pool_of(made_up_process([*kinds, Kind(SMALL, 10, 1e-7)]))).sizes
    assert list(sizes) == [32, 33, 303]
    assert sizes[32] + sizes[33] == pytest.approx(4_000_000)
    assert sizes[32] == pytest.approx(3_000_000, rel=0.1)
    assert sizes[303] == 5


@pytest.mark.parametrize("keep", [1.0, 0.2])
@pytest.mark.parametrize("spread", [0.0, 0.9])
@pytest.mark.parametrize("timed", [1.0, 0.5])
def test_seconds_are_a_bound_and_no_loose_one(keep: float, spread: float, timed: float) -> None:
    """In at least nine of ten runs, where nothing is uncertain but the sampling."""
    held = 0
    for seed in range(40):
        kinds = [Kind(64 << 10, 20_000, 20e-6, spread, timed=timed)]
        (total,) = (
            b for b in totals_of(pool_of(made_up_process(kinds, seed, keep))).bands if b.calls
        )
        held += total.seconds >= 0.4 * (1 - 1e-6)
        assert total.seconds < 0.4 * (1.01 if not spread else 1.6)
    assert held >= 36


def test_a_timing_that_was_interrupted_counts_for_nothing() -> None:
    process = made_up_process([Kind(16, 4_000_000, 1e-8)])
    process.samples.append(process.samples[0]._replace(ticks=10**9))
    assert totals_of(pool_of(process)).copies.seconds == pytest.approx(0.04, rel=0.01)


def test_few_timings_say_nothing_but_there_is_a_bound() -> None:
    found = totals_of(pool_of(made_up_process([Kind(16, 3000, 1e-8)])))
    assert found.copies.seconds is None
    assert 0 < found.copies.slowest < 0.01
    assert totals_of(pool_of()).copies.slowest == 0


def test_a_place_has_all_calls_of_a_size_far_from_the_start_of_its_class() -> None:
    """By which the recorder draws them."""
    (place,) = totals_of(pool_of(made_up_process([Kind(73_000, 300_000, 10e-6)]))).places
    assert place.total.calls == pytest.approx(300_000, rel=0.05)
    assert place.total.seconds == pytest.approx(3, rel=0.05)


def test_the_median_size_of_a_place_is_of_its_calls_not_of_its_samples() -> None:
    """Long calls have more samples."""
    few_large = replace(LARGE_ONES, site=SMALL_ONES.site)
    (place,) = totals_of(pool_of(made_up_process([SMALL_ONES, few_large]))).places
    assert place.median_size == 33


def test_places_come_by_their_time_with_the_function_that_they_call() -> None:
    found = totals_of(pool_of(made_up_process([SMALL_ONES, LARGE_ONES, SETS]))).places
    assert [(place.site.offset, place.function) for place in found] == [
        *((0x1300, "memcpy"), (0x1400, "memset"), (0x1200, "memcpy"))
    ]
    assert found[0].site == Site("/usr/lib/libmade-up.so.1", 0x1300)
    assert found[0].total.calls == pytest.approx(4_000, rel=0.2)
    assert found[0].median_size == 1 << 20
    assert found[0].total.seconds == pytest.approx(0.4, rel=0.25)
