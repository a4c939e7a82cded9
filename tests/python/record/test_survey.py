"""Size classes cut at bands, groups of samples, sums of intervals."""

from __future__ import annotations

import pytest
from asterope.record.bands import COUNT, LIMITS, band_ends, band_of
from asterope.record.calls import calls_of
from asterope.record.survey import (
    ENOUGH,
    Interval,
    cells_of,
    groups_of,
    sum_of,
    t_quantile,
    weights_of,
)
from made_up_processes import CALIBRATION, TICK_HZ, Kind, made_up_process, size_class


def calls(*kinds: Kind):
    return calls_of([made_up_process(kinds)], CALIBRATION, TICK_HZ)[0]


def test_a_band_ends_with_its_limit() -> None:
    assert [band_of(size) for size in (0, 64, 65, 256, 257, 4 << 20, (4 << 20) + 1)] == [
        *(0, 0, 1, 1, 2, 8, 9)
    ]
    assert [band_ends(band) for band in (0, 1, COUNT - 1)] == [(0, 64), (64, 256), (4 << 20, None)]


@pytest.mark.parametrize("limit", LIMITS)
def test_a_class_that_a_limit_divides_becomes_two_cells(limit: int) -> None:
    cells = cells_of({size_class(limit): 100}, [], [limit] * 3 + [limit + 1])
    assert [(cell.band, cell.calls) for cell in cells] == [
        (band_of(limit), 75),
        (band_of(limit + 1), 25),
    ]


def test_nothing_is_lost_where_nothing_is_known_of_a_class() -> None:
    cells = cells_of({(64, 72): 800, (20, 22): 5, (30, 32): 0}, [])
    assert sum(cell.calls for cell in cells) == 805
    assert {cell.band: cell.calls for cell in cells if cell.first >= 64} == {0: 100, 1: 700}


@pytest.mark.parametrize("by_work", [False, True])
def test_samples_add_up_to_what_was_counted(by_work: bool) -> None:
    kinds = [Kind(size, 3_000_000_000 // (size + 256), 1e-6) for size in range(5000, 60_000, 5000)]
    counts = {size_class(kind.size): kind.calls for kind in kinds}
    found = calls(*kinds)
    groups = groups_of(cells_of(counts, found), found, by_work)
    assert len(groups) > 2
    assert all(len(group.members) >= ENOUGH for group in groups)
    assert sum(len(group.members) for group in groups) == len(found)
    weight = sum(w * (call.work if by_work else 1) for call, w in weights_of(groups))
    truth = sum(kind.calls * (kind.size + 256 if by_work else 1) for kind in kinds)
    assert weight == pytest.approx(truth, rel=1e-3)


def test_few_samples_of_a_band_stay_one_group() -> None:
    kinds = [Kind(5000, 4_000, 1e-6), Kind(9000, 2_000, 1e-6)]
    found = calls(*kinds)
    counts = {size_class(kind.size): kind.calls for kind in kinds}
    (group,) = groups_of(cells_of(counts, found), found, by_work=True)
    assert len(group.members) == len(found) < ENOUGH


def test_intervals_add_as_errors_do_and_stay_skewed() -> None:
    total = sum_of([Interval(10, 7, 14), Interval(10, 6, 13)])
    assert (total.value, total.low, total.high) == (20, 15, 25)
    skewed = sum_of([Interval(1, 0.9, 5), Interval(9, 9, 9)])
    assert (skewed.low, skewed.high) == (9.9, 14)
    assert sum_of([]) == Interval(0, 0, 0)
    assert sum_of([Interval(1, 0, 1), Interval(1, 0, 1)]).low == pytest.approx(2 - 2**0.5)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)],
)
def test_students_t(freedom: int, quantile: float) -> None:
    assert t_quantile(freedom) == pytest.approx(quantile, rel=0.01)
