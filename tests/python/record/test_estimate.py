"""What asterope-record estimates, on programs that are made up: the truth is known."""

from __future__ import annotations

import dataclasses
import errno
import math
import random
from collections.abc import Callable, Sequence

import pytest
from asterope.record.bands import band_of
from asterope.record.calls import PREEMPTED_SECONDS
from asterope.record.estimate import Estimates, estimate
from asterope.record.raw import RawProcess
from asterope.record.survey import Interval
from made_up_processes import (
    CALIBRATION,
    NO_FLAGS,
    PERIOD,
    TICK_HZ,
    Kind,
    burst_call,
    made_up_process,
    true_seconds,
    watch,
)


def skewed(mean: float, spread: float = 0.6) -> Callable[[random.Random], float]:
    """As times are: many a little below the mean, few far above it."""
    return lambda chance: mean * math.exp(chance.gauss(0, spread) - spread**2 / 2)


def large(size: int, calls: int, mean: float, **fields: object) -> Kind:
    return Kind(size, calls, mean, skewed(mean), **fields)


def estimated(*processes: RawProcess) -> Estimates:
    return estimate(processes, CALIBRATION)


def of(kinds: Sequence[Kind], **settings: object) -> Estimates:
    return estimated(made_up_process(kinds, **settings))


def band(estimates: Estimates, size: int):
    return estimates.bands[band_of(size)]


def holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


# --- Time -----------------------------------------------------------------------------------------

# Each far from what out-of-order execution could hide, so that chance alone widens the interval.
PROGRAMS = {
    "one size": [large(64 << 10, 20_000, 20e-6)],
    "one size, few samples": [large(64 << 10, 1_000, 20e-6)],
    "many sizes": [large(1 << p, 100_000_000 >> p, 0.5e-9 * (1 << p)) for p in range(12, 23)],
    "huge ones, all sampled": [large(64 << 20, 12, 20e-3), large(64 << 10, 1_000, 20e-6)],
    "two situations": [large(16 << 10, 90_000, 3e-6), large(16 << 10, 10_000, 30e-6, site=0x200)],
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_intervals_hold_the_truth_about_as_often_as_they_say(program: str) -> None:
    kinds, runs, held, width = PROGRAMS[program], 120, 0, 0.0
    for seed in range(runs):
        process = made_up_process(kinds, seed=seed)
        found = estimated(process).copy_seconds
        held += holds(found, true_seconds(kinds, process))
        width += found.high / found.low / runs
    assert held / runs >= 0.9  # of 95 %, less what 120 runs may miss by chance
    assert width < 4


def test_estimates_are_right_in_the_mean() -> None:
    kinds = PROGRAMS["many sizes"]
    truth = sum(kind.calls * kind.mean for kind in kinds)
    values = [of(kinds, seed=seed).copy_seconds.value for seed in range(60)]
    assert sum(values) / len(values) == pytest.approx(truth, rel=0.02)


def test_more_samples_give_narrower_intervals() -> None:
    few, many = (of([large(64 << 10, calls, 20e-6)]).copy_seconds for calls in (2_000, 50_000))
    assert many.high / many.low < (few.high / few.low) ** 0.5


def test_what_timing_takes_is_taken_off() -> None:
    found = of([Kind(64 << 10, 20_000, 20e-6)]).copy_seconds
    assert found.high == pytest.approx(0.4, rel=0.001)


def test_of_small_copies_the_interval_also_holds_what_others_hide() -> None:
    """They are timed alone; among other instructions they may take nearly nothing."""
    found = of([Kind(16, 50_000_000, 10e-9)]).copy_seconds
    assert found.high == pytest.approx(0.5) and found.low < 0.15
    assert found.low < found.value < found.high
    large_ones = of([Kind(1 << 20, 5_000, 100e-6)]).copy_seconds
    assert large_ones.low > 0.99 * large_ones.high * (1 - 1e-3)


def test_a_band_gets_its_own_time() -> None:
    found = of([large(100, 10_000_000, 200e-9), large(8 << 10, 100_000, 2e-6)])
    assert band(found, 100).seconds.value == pytest.approx(1.8, rel=0.15)
    assert band(found, 8 << 10).seconds.value == pytest.approx(0.2, rel=0.15)
    assert sum(b.seconds.value for b in found.bands) == pytest.approx(found.copy_seconds.value)


def test_a_band_without_a_sample_borrows_a_rate_and_says_how_little_it_knows() -> None:
    found = of([large(64 << 10, 20_000, 20e-6), Kind(2000, 3, 1e-6)])
    assert band(found, 2000).timed == 0
    seconds = band(found, 2000).seconds
    assert seconds.value > 0 and seconds.high / seconds.low == pytest.approx(9, rel=0.05)
    assert found.copy_seconds.value == pytest.approx(0.4, rel=0.1)


def test_a_copy_that_was_preempted_is_left_out() -> None:
    calm = made_up_process([Kind(64 << 10, 20_000, 20e-6)])
    samples = list(calm.samples)
    lost = round((PREEMPTED_SECONDS + 4e-3) * TICK_HZ)
    samples[7] = dataclasses.replace(samples[7], copy_ticks=lost)
    found = estimated(dataclasses.replace(calm, samples=samples))
    assert found.preempted == 1
    assert found.copy_seconds.high == pytest.approx(0.4, rel=1e-3)


def test_nothing_timed_is_not_known_rather_than_nothing() -> None:
    assert of([Kind(16, 3, 1e-8)]).copy_seconds is None
    assert of([Kind(64 << 10, 20_000, 20e-6)], tick_hz=0.0).copy_seconds is None


def test_samples_that_a_reservoir_dropped_are_stood_for() -> None:
    """Two threads of one process: of the busy one's samples a tenth is kept."""
    busy = made_up_process([large(4096, 900_000, 1e-6, site=0x100)], keep=0.1)
    calm = made_up_process([large(4096, 100_000, 1e-6, site=0x200)], seed=1)
    both = dataclasses.replace(
        busy,
        counts={"memcpy": {(4096, 4608): 1_000_000}},
        samples=[*busy.samples, *calm.samples],
    )
    places = {place.site.offset: place for place in estimated(both).places}
    assert places[0x1100].calls == pytest.approx(900_000, rel=0.1)
    assert places[0x1200].calls == pytest.approx(100_000, rel=0.25)


# --- Counts ---------------------------------------------------------------------------------------


def test_processes_add_up() -> None:
    kinds = [large(64 << 10, 5_000, 20e-6)]
    found = estimated(*(made_up_process(kinds, seed=seed, pid=seed) for seed in range(4)))
    assert found.counts["memcpy"] == {(65536, 73728): 20_000}
    assert found.copy_seconds.value == pytest.approx(0.4, rel=0.15)


def test_a_class_that_reaches_into_two_bands_is_divided_as_its_samples_are() -> None:
    """4,096 bytes end a band and begin a size class."""
    found = of([Kind(4096, 300_000, 1e-6), Kind(4200, 100_000, 1e-6)])
    assert band(found, 4096).calls == pytest.approx(300_000, rel=0.1)
    assert band(found, 4200).calls == pytest.approx(100_000, rel=0.25)
    assert sum(b.calls for b in found.bands) == pytest.approx(400_000)
    assert sum(b.bytes for b in found.bands) == pytest.approx(
        300_000 * 4096 + 100_000 * 4200, rel=0.003
    )


def test_without_samples_a_class_is_divided_as_bursts_are() -> None:
    process = made_up_process([Kind(64, 900, 1e-8)], bursts=[[burst_call(64)] * 50])
    found = estimated(dataclasses.replace(process, samples=[]))
    assert (band(found, 64).calls, band(found, 65).calls) == (900, 0)
    assert band(found, 64).bytes == 900 * 64


def test_memset_is_no_copy() -> None:
    found = of([Kind(4096, 10_000, 1e-6), Kind(4096, 50_000, 1e-6, function="memset")])
    assert band(found, 4096).calls == 10_000
    assert found.memset_bands[band_of(4096)].calls == 50_000
    assert found.copy_seconds.value == pytest.approx(0.01, rel=0.1)
    assert {place.function for place in found.places} == {"memcpy"}


# --- Situations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [256, 64 << 10])
def test_where_the_data_was_is_known_by_the_probes(size: int) -> None:
    calls = 200_000_000 // (size + 256)
    found = of(
        [
            Kind(size, 6 * calls, 2e-6),
            Kind(size, 3 * calls, 2e-6, source_cached=0),
            Kind(size, calls, 2e-6, source_cached=0, destination_cached=0),
        ]
    )
    shares = {
        (one.source_cached, one.destination_cached): one.calls
        for one in band(found, size).situations
    }
    truth = {(True, True): 0.6, (False, True): 0.3, (False, False): 0.1, (True, False): 0}
    assert shares == {case: pytest.approx(share, abs=0.07) for case, share in truth.items()}
    assert sum(one.time for one in band(found, size).situations) == pytest.approx(1)


def test_a_situation_that_is_rare_and_slow_has_the_time_it_takes() -> None:
    found = of([Kind(64 << 10, 9_000, 2e-6), Kind(64 << 10, 1_000, 18e-6, source_cached=0)])
    uncached = sum(one.time for one in band(found, 64 << 10).situations if not one.source_cached)
    assert uncached == pytest.approx(0.5, abs=0.12)


def test_a_page_that_is_not_there_yet_is_in_no_cache() -> None:
    found = of([Kind(64 << 10, 20_000, 20e-6, fresh=1.0)])
    (one,) = (one for one in band(found, 64 << 10).situations if one.calls)
    assert (one.source_cached, one.destination_cached) == (True, False)


def test_without_a_probe_there_is_no_situation() -> None:
    process = made_up_process([Kind(64 << 10, 2_000, 20e-6)])
    blind = [
        dataclasses.replace(s, source_ticks=None, destination_ticks=None, destination_resident=None)
        for s in process.samples
    ]
    found = estimated(dataclasses.replace(process, samples=blind))
    assert list(band(found, 64 << 10).situations) == []


# --- Alignment, overlap, order --------------------------------------------------------------------


def test_alignments_are_those_of_small_copies() -> None:
    found = of(
        [
            Kind(512, 300_000, 1e-7, source_offset=64, destination_offset=8),
            Kind(512, 100_000, 1e-7, source_offset=3, destination_offset=8),
            Kind(1 << 20, 900, 1e-4, source_offset=1, destination_offset=1),
        ]
    )
    assert found.source_alignments[64] == pytest.approx(0.75, abs=0.1)
    assert found.source_alignments[1] == pytest.approx(0.25, abs=0.1)
    assert found.destination_alignments[8] == pytest.approx(1)


def test_aliasing_buffers_are_told_modulo_4096() -> None:
    found = of(
        [
            Kind(4096, 50_000, 1e-6, source_offset=4090, destination_offset=30),
            Kind(4096, 50_000, 1e-6, source_offset=0, destination_offset=64),
            Kind(4096, 50_000, 1e-6, source_offset=8, destination_offset=8),
            Kind(32, 9_000_000, 1e-8, source_offset=0, destination_offset=1),
        ]
    )
    assert found.aliased == pytest.approx(1 / 3, abs=0.15)


def test_overlap_counts_by_calls() -> None:
    found = of(
        [
            Kind(4096, 90_000, 1e-6, function="memmove"),
            Kind(64 << 10, 10_000, 1e-5, function="memmove", overlap=True),
        ]
    )
    assert found.overlapping == pytest.approx(0.1, abs=0.04)


def test_the_trace_keeps_the_order_and_leaves_memset_out() -> None:
    burst = [burst_call(size) for size in (5, 900, 17)]
    burst.insert(1, burst_call(4096, function="memset"))
    found = of([Kind(16, 1_000, 1e-8)], bursts=[burst])
    assert found.trace == [[(5, 0, 0), (900, 0, 0), (17, 0, 0)]]


def test_of_too_many_bursts_a_choice_is_kept_and_the_same_each_time() -> None:
    bursts = [[burst_call(size)] for size in range(1, 1001)]
    once, again = (of([Kind(16, 1_000, 1e-8)], bursts=bursts).trace for _ in range(2))
    assert len(once) == 256 and once == again
    sizes = [burst[0][0] for burst in once]
    assert sizes == sorted(sizes) and max(sizes) > 900  # of all, in order


def test_gaps_leave_out_what_came_before_a_burst() -> None:
    burst = [burst_call(16, gap_ticks=10**9), *(burst_call(16, gap_ticks=t) for t in range(101))]
    gaps = of([Kind(16, 1_000, 1e-8)], bursts=[burst]).gaps
    assert [gap * TICK_HZ for gap in (gaps.p10, gaps.median, gaps.p90)] == pytest.approx(
        [10, 50, 90]
    )


# --- Readers --------------------------------------------------------------------------------------


def test_watchpoints_tell_who_reads_and_when() -> None:
    watches = [
        *[watch(4096, "read", 900_000)] * 5,
        *[watch(4096, "read", 2_000_000)] * 2,
        *[watch(4096, "written", 10)] * 2,
        watch(4096, "window"),
    ]
    found = of([Kind(4096, 1_000, 1e-6)], watches=watches)
    read = band(found, 4096).read
    assert found.readers.source == "watchpoints"
    assert (read.soon, read.later, read.overwritten, read.not_in_window) == (0.5, 0.2, 0.2, 0.1)


def test_soon_is_measured_by_a_long_copys_own_time() -> None:
    slow = dataclasses.replace(
        watch(64 << 20, "read", 15_000_000), copy_ticks=round(10e-3 * TICK_HZ)
    )
    found = of([Kind(64 << 20, 10, 10e-3)], watches=[slow])
    assert band(found, 64 << 20).read.soon == 1


def test_where_watchpoints_are_refused_returning_pages_tell() -> None:
    returns = [burst_call(4096, source=i, destination=i + 1) for i in range(100)]
    again = [burst_call(4096, source=i, destination=900) for i in range(100)]
    never = [burst_call(4096, source=1, destination=i + 200) for i in range(100)]
    flags = dataclasses.replace(NO_FLAGS, watch_errno=errno.EACCES)
    found = of([Kind(4096, 1_000, 1e-6)], bursts=[returns, again, never, never], flags=flags)
    read = band(found, 4096).read
    assert found.readers.source == "reuse"
    assert "Permission denied" in found.readers.why and "perf_event_paranoid" in found.readers.why
    assert (read.soon, read.overwritten, read.not_in_window) == (0.25, 0.25, 0.5)


def test_with_neither_nothing_is_claimed() -> None:
    found = of([Kind(4096, 1_000, 1e-6)])
    assert found.readers.source == "none"
    assert all(b.read is None for b in found.bands)


# --- Places ---------------------------------------------------------------------------------------


def test_places_are_ranked_by_time_and_add_up() -> None:
    found = of(
        [
            Kind(64 << 10, 3_000, 10e-6, site=0x300, source_cached=0),
            Kind(64 << 10, 3_000, 30e-6, site=0x100),
            Kind(64 << 10, 3_000, 20e-6, site=0x200),
        ]
    )
    assert [place.site.offset for place in found.places] == [0x1100, 0x1200, 0x1300]
    assert [place.share for place in found.places] == pytest.approx([3 / 6, 2 / 6, 1 / 6], abs=0.1)
    assert {place.site.module for place in found.places} == {"/usr/lib/libmade-up.so.1"}
    assert found.places[0].median_size == 64 << 10
    assert found.places[2].source_cached == 0


def test_no_more_than_ten_places() -> None:
    found = of([Kind(64 << 10, 1_000, 1e-6, site=16 * i) for i in range(1, 15)])
    assert len(found.places) == 10


def test_a_caller_in_no_module_keeps_its_address() -> None:
    process = made_up_process([Kind(64 << 10, 1_000, 1e-6)])
    (place,) = estimated(dataclasses.replace(process, modules=[])).places
    assert place.site.module == "" and place.site.offset == process.samples[0].caller


HOT = {"source_cached": 1.0, "destination_cached": 1.0}
COLD = {"source_cached": 0.0, "destination_cached": 0.0}


@pytest.mark.parametrize(
    ("fields", "outcomes", "serve"),
    [
        (HOT, [], "asterope_memcpy_hot"),
        (COLD, ["window"] * 8, "asterope_memcpy_cold"),
        (COLD, ["read"] * 8, "asterope_memcpy_consume"),
        (COLD, ["read", "window"] * 4, "asterope_memcpy"),  # some are read, some are not
        (COLD, ["window"] * 2, "asterope_memcpy"),  # too few to tell
        ({"source_cached": 0.0}, ["read"] * 8, "asterope_memcpy"),  # into one buffer again
        ({"source_cached": 0.5, "destination_cached": 0.5}, [], "asterope_memcpy"),
        ({**HOT, "function": "memmove"}, [], "asterope_memmove"),
    ],
)
def test_a_place_is_served_by_an_entry_point_for_a_situation_where_it_clearly_is_in_one(
    fields: dict, outcomes: Sequence[str], serve: str
) -> None:
    watches = [watch(64 << 10, outcome, 100 if outcome == "read" else None) for outcome in outcomes]
    (place,) = of([Kind(64 << 10, 10_000, 20e-6, **fields)], watches=watches).places
    assert place.serve == serve


def test_few_samples_say_nothing_about_a_place() -> None:
    (place,) = of([Kind(64 << 10, 3 * PERIOD // (64 << 10), 20e-6)]).places
    assert place.samples < 8
    assert (place.source_cached, place.serve) == (None, "asterope_memcpy")
