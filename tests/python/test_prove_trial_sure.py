"""How often a sure sentence of a trial is false, of made-up programs whose truth is known."""

from __future__ import annotations

import random

import pytest
from asterope.prove.trial.findings import Found, findings, reach
from made_up_programs import Program
from made_up_trials import WAYS

SHARES, LENGTHS = (0.001, 0.01, 0.1, 0.6), (0.003, 0.03, 0.3, 3.0, 30.0)
SURELY = 0.05


def is_false(found: Found, truth: float) -> bool:
    gain = found.gain
    if not found.is_told or gain is None:
        return False
    if gain.low > 0 or gain.high < 0:
        return not gain.low <= truth <= gain.high
    return abs(truth) > reach(gain)


def false_of(share: float, seconds: float, trials: int) -> tuple[int, int]:
    """The number of trials that told anything, and of those that told something false. They run
    alone and beside busy jobs, for 2 and 20 seconds. Routines are as fast as libc, faster or
    slower."""
    told = false = 0
    for seed in range(trials):
        dice = random.Random(f"{share} {seconds} {seed}")
        noise, stalls = dice.choice([(0.01, 0.0), (0.03, 0.05), (0.1, 0.2)])
        factor = dice.choice([1.0, 1.0, 0.5, 0.9, 1.1, 2.0])
        program = Program(share, factor, seconds, noise, stalls)
        found = findings(program.tried(dice.choice([2.0, 20.0]), dice), WAYS)
        told += found.is_told
        false += is_false(found, program.gain)
    return told, false


@pytest.mark.parametrize("trials", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_no_sure_sentence_is_false_more_often_than_it_says(trials: int) -> None:
    cells = {(share, long): false_of(share, long, trials) for share in SHARES for long in LENGTHS}
    count = trials * len(cells)
    assert sum(false for _, false in cells.values()) <= SURELY * count, cells
    assert sum(told for told, _ in cells.values()) > 0.4 * count, cells
