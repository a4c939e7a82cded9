"""Processes added up: their number and the times of their ends do not change the sum."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asterope.record import pool as pools
from asterope.record.pool import MOST_SAMPLES, Pool
from asterope.record.totals import totals_of
from made_up_processes import Kind, made_up_process

KINDS = [Kind(16, 4_000_000, 1e-8), Kind(64 << 10, 5_000, 20e-6, site=0x300)]


def test_processes_add_up_one_by_one_as_all_at_once() -> None:
    processes = [made_up_process(KINDS, seed, pid=seed) for seed in range(5)]
    at_once, one_by_one = Pool(), Pool()
    at_once.add(processes)
    for process in processes:
        one_by_one.add([process])
    assert totals_of(one_by_one) == totals_of(at_once)
    assert one_by_one.cpu_seconds == at_once.cpu_seconds == 50
    assert (one_by_one.processes, one_by_one.threads) == (5, 5)


def test_samples_stay_few_and_stand_for_all() -> None:
    pool = Pool()
    for seed in range(60):
        pool.add([made_up_process([Kind(64 << 10, 60_000, 20e-6)], seed, pid=seed)])
        assert len(pool.samples) <= MOST_SAMPLES
    assert pool.drawn > MOST_SAMPLES
    found = totals_of(pool)
    assert found.copies.calls == 60 * 60_000
    assert found.places[0].total.calls == pytest.approx(60 * 60_000, rel=0.05)
    assert found.copies.seconds == pytest.approx(60 * 60_000 * 20e-6, rel=0.01)


def test_a_copy_can_be_added_to() -> None:
    pool = Pool()
    pool.add([made_up_process(KINDS, pid=1)])
    before = totals_of(pool)
    pool.copy().add([made_up_process(KINDS, pid=2)])
    assert totals_of(pool) == before and pool.processes == 1


@pytest.mark.parametrize("together", [True, False])
def test_an_exec_goes_on_with_the_clock_and_another_process_of_that_number_has_its_own(together):
    first = made_up_process(KINDS, pid=7, cpu_seconds=5)
    exec_of_it = replace(first, cpu_seconds=9, cpu_before=5)
    other = replace(first, cpu_seconds=2, cpu_before=0.001)
    pool = Pool()
    fork = replace(first, cpu_seconds=1, cpu_before=0)
    all_of_them = [first, exec_of_it, other, fork]
    for batch in [all_of_them] if together else [[one] for one in all_of_them]:
        pool.add(batch)
    assert pool.cpu_seconds == 9 + 2 + 1


def test_what_is_known_of_a_process_to_its_end_is_its_time() -> None:
    killed = made_up_process(KINDS, pid=7, cpu_seconds=1, has_ended=False)
    noted = made_up_process(KINDS, pid=8, cpu_seconds=1)
    cases = (({}, (), 2, 1), ({7: 4.0}, (), 5, 1), ({7: 4.0}, (7,), 5, 0))
    for known, to_the_end, seconds, unnoted in cases:
        pool = Pool()
        pool.add([killed, noted], known, to_the_end)
        assert (pool.cpu_seconds, pool.unnoted) == (seconds, unnoted)
    pool = Pool()
    pool.add([killed], have_ended=False)
    assert pool.unnoted == 0
    pool.add([killed])
    pool.add([replace(noted, pid=7, cpu_before=2)])  # it was an exec that ended it
    assert pool.unnoted == 0


@pytest.mark.parametrize("together", [True, False])
def test_who_waited_for_a_process_knows_what_it_took_to_its_end(together: bool) -> None:
    """With its own children, which have files of their own."""
    killed = made_up_process([], pid=7, cpu_seconds=1, has_ended=False, waited_seconds=0.5)
    child = made_up_process([], pid=8, cpu_seconds=0.5)
    shell = made_up_process([], pid=6, cpu_seconds=2, waited_for={7: 4.0, 8: 9.0})
    pool = Pool()
    later = replace(shell, cpu_before=2)
    for batch in [[shell, killed, child]] if together else [[killed, child], [shell], [later]]:
        pool.add(batch, {7: 1.5})
    assert (pool.cpu_seconds, pool.unnoted) == (2 + (4 - 0.5) + 0.5, 0)


def test_what_a_process_took_as_another_program_is_not_recorded() -> None:
    before = made_up_process([], pid=7, cpu_seconds=1, has_ended=False)
    shell = made_up_process([], pid=6, cpu_seconds=2, waited_for={7: 4.0})
    pool = Pool()
    pool.add([before], gone_on=[7])
    pool.add([shell])
    assert (pool.cpu_seconds, pool.unnoted) == (3, 1)


def test_what_was_seen_of_a_process_last_is_of_its_last_program() -> None:
    first = made_up_process([], pid=7, cpu_seconds=1, has_ended=False)
    last = replace(first, cpu_seconds=2, cpu_before=1)
    assert pools.own_cpu_seconds([first, last], {7: 5.0}, {}) == [1, 4]
    unnoted = replace(first, cpu_seconds=0, cpu_before=0)  # of a program without time stamps
    assert pools.own_cpu_seconds([first, unnoted], {7: 5.0}, {}) == [1, 4]


def test_clocks_of_processes_that_are_gone_are_forgotten(monkeypatch) -> None:
    monkeypatch.setattr(pools, "_MOST_CLOCKS", 10)
    pool = Pool()
    for pid in range(1 << 22, (1 << 22) + 100):  # numbers that Linux gives to none
        pool.add([made_up_process([], pid=pid)])
    assert len(pool._last) <= 11 and pool.processes == 100
