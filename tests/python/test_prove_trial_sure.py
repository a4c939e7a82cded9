"""How often a sure sentence of a trial is false, of made-up programs whose truth is known.
`scripts/test tests/python/test_prove_trial_sure.py --trials 1000 -n0 -s` shows the table of the
cells."""

from __future__ import annotations

import itertools
import multiprocessing
import random
from collections.abc import Mapping
from typing import NamedTuple

import pytest
from asterope.prove.trial.findings import Found, findings
from made_up_programs import Program
from made_up_trials import WAYS

SHARES, LENGTHS = (0.001, 0.01, 0.1, 0.6), (0.003, 0.03, 0.3, 3.0, 30.0)
NOISES = {"alone": [(0.01, 0.0)], "beside three jobs": [(0.03, 0.05), (0.1, 0.2)]}
IDLE, PROCESSES = (0.0, 0.9), (1, 7, 50)
SURELY = 0.05


class Cell(NamedTuple):
    share: float
    seconds: float  # of a process
    noise: str
    idle: float
    processes: int


CELLS = [Cell(*one) for one in itertools.product(SHARES, LENGTHS, NOISES, IDLE, PROCESSES)]


def is_false(found: Found, truth: float) -> bool:
    gain = found.gain
    if not found.is_told or gain is None:
        return False
    if gain.low > 0 or gain.high < 0:
        return not gain.low <= truth <= gain.high
    return abs(truth) > gain.reach


def of_cell(cell: Cell, trials: int) -> tuple[int, int]:
    """The number of trials that told anything, and of those that told something false. They take 2
    or 10 seconds. Routines are as fast as libc, faster or slower."""
    told = false = 0
    for seed in range(trials):
        dice = random.Random(f"{cell} {seed}")
        noise, stalls = dice.choice(NOISES[cell.noise])
        factor = dice.choice([1.0, 1.0, 0.1, 0.5, 0.9, 1.1, 2.0, 10.0])
        seconds, longest = dice.choice([(2.0, 0.006), (10.0, 0.06)])
        call, calls = dice.choice([1e-4, 2e-6]), dice.choice([3, 50, 1000])
        lasting = (cell.share, factor, cell.seconds, noise, stalls)
        program = Program(*lasting, cell.idle, cell.processes, call, calls, longest)
        observed, gain = program.tried(seconds, dice)
        found = findings(observed, WAYS)
        told += found.is_told
        false += is_false(found, gain)
    return told, false


def show(cells: Mapping[Cell, tuple[int, int]], trials: int) -> None:
    """A row for each program, false sentences and told ones for each number of processes."""
    print(f"\nOf {trials} trials: false sentences / sentences, for so many processes")
    heads = "".join(f"{count:>12}" for count in PROCESSES)
    print(f"{'copies':>7} {'process':>8}  {'':17} {'idle':>5}{heads}")
    for own in itertools.product(SHARES, LENGTHS, NOISES, IDLE):
        share, seconds, noise, idle = own
        start = f"{100 * share:6.1f}% {seconds:7.3f}s  {noise:17} {100 * idle:4.0f}%"
        found = (cells[Cell(*own, count)] for count in PROCESSES)
        print(start + "".join(f"{f'{false} / {told}':>12}" for told, false in found))


@pytest.mark.all_cpus
def test_no_sure_sentence_is_false_more_often_than_it_says(request) -> None:
    trials = request.config.getoption("--trials")
    with multiprocessing.Pool() as pool:
        found = pool.starmap(of_cell, [(cell, trials) for cell in CELLS], chunksize=1)
    cells = dict(zip(CELLS, found))
    show(cells, trials)
    too_many = {
        cell: false for cell, (_, false) in cells.items() if false > max(2, SURELY * trials)
    }
    assert not too_many
    assert sum(false for _, false in found) <= SURELY * sum(told for told, _ in found)
    assert sum(told for told, _ in found) > 0.3 * trials * len(CELLS)
