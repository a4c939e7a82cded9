"""How often a sure sentence of a trial is false, of made-up programs whose truth is known.
`scripts/test tests/python/test_prove_trial_sure.py --trials 1000 -n0 -s` shows the table of the
cells."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from asterope.prove.trial import blocks
from asterope.prove.trial.blocks import LIBC, ROUTINE, Block, Observed, Pair, Place, Seen, Spent
from asterope.prove.trial.findings import Found, findings
from made_up_trials import WAYS

COPIES, STARTING = (Place("/bin/program", n, "memcpy", 4096) for n in (1, 2))
_SHORTEST, _OF_ALL = 0.001, 16  # a period: in seconds, and as a part of the time until then
_LONG = 1e-4  # seconds between two calls, from which on they are of CPU time
_TIMED = 1e-5  # seconds: calls that follow each other faster are timed in groups
_KEPT = 8  # intervals of a period, of which each place keeps so many
_MOST_WAITING = 8  # one interval in so many, else the usual ones are not told from the others
_MOST_PROCESSES = 150


@dataclass(frozen=True)
class Program:
    """`share`: the part of its processes' CPU time that copies take with libc. `factor`: with the
    routine they take so many times that. `seconds`: of CPU time of a process; `noise`: of a
    period's time, and how often it is longer by far. `idle`: the part of the time that it waits.
    `processes`: that run beside each other; if several, another one starts them, and copies
    nothing. `call`: seconds of CPU time from a call to the next; `calls`: from a wait to the next
    one; `longest`: period, in seconds."""

    share: float
    factor: float
    seconds: float
    noise: float
    stalls: float
    idle: float = 0.0
    processes: int = 1
    call: float = 1e-4
    calls: int = 30
    longest: float = 0.03

    @property
    def _parent(self) -> float:
        """The seconds of the process that starts the others, for each of these."""
        return 0.3 * self.seconds / self.processes if self.processes > 1 else 0.0

    @property
    def _starting(self) -> float:
        """The seconds of a process in which no copies of the routine's matter."""
        return min(0.02, self.seconds / 10)

    def _level(self, way: str | None) -> float:
        factor = {LIBC: 1.0, ROUTINE: self.factor, None: (1 + self.factor) / 2}[way]
        return 1 - self.share + self.share * factor

    def _whole(self, way: str | None) -> float:
        """The seconds of a process."""
        return self._starting + (self.seconds - self._starting) * self._level(way)

    def _stretched(self, seconds: float, dice: random.Random) -> float:
        seconds *= max(0.3, 1 + self.noise * dice.gauss(0, 1))
        return seconds * (dice.uniform(1, 3) if dice.random() < self.stalls else 1)

    def tried(self, seconds: float, dice: random.Random) -> tuple[Observed, float]:
        """All of its processes in so many seconds, _MOST_PROCESSES at most; and how much faster
        they are, as far as they came."""
        seconds *= 1 - self.idle
        observed, number, is_short, takes = Observed(), 0, False, [0.0, 0.0]
        copies = observed.places.setdefault(COPIES, Seen())
        while observed.cpu_seconds < seconds and number < _MOST_PROCESSES:
            left = (seconds - observed.cpu_seconds) / self.processes
            for _ in range(self.processes):
                before, way, done = observed.cpu_seconds, None, 1.0
                if is_short:
                    way = dice.choice([LIBC, ROUTINE, None])
                    calls = round((self.seconds - self._starting) / self.call)
                    copies.calls += calls
                    luck = 1 + 0.005 * dice.gauss(0, 1)  # where its memory happens to lie
                    observed.cpu_seconds += luck * self._stretched(self._whole(way), dice)
                else:
                    calls = copies.calls
                    done = self._in_periods(str(number), left, observed, dice)
                    calls = copies.calls - calls
                own = observed.cpu_seconds - before
                one = blocks.Lived(str(number), 7, number, own, way, own if done == 1 else None)
                observed.lived.append(one)
                if one.is_short:
                    copies.short_calls += calls
                number += 1
                observed.cpu_seconds += done * self._parent
                for i, each in enumerate((LIBC, ROUTINE)):
                    copying = done * (self._whole(each) - self._starting)
                    starting = self._starting if done else min(own, self._starting)
                    takes[i] += starting + copying + done * self._parent
                is_short = is_short or (own < blocks.SHORT and done == 1)
        observed.wall_seconds = observed.cpu_seconds / (1 - self.idle)
        observed.processes = observed.runs = number
        measured = max(25, copies.calls // 64)
        each = self.call * self.share * (1 + self.stalls)
        copies.measured = {
            LIBC: (measured, measured * each),
            ROUTINE: (measured, measured * each * self.factor),
        }
        return observed, takes[0] / takes[1] - 1

    def _in_periods(
        self, process: str, most: float, observed: Observed, dice: random.Random
    ) -> float:
        """A process, for `most` seconds. Returns the part of its work that is done then. While it
        starts, other things than copies take most of the time."""
        luck = 1 + 0.005 * dice.gauss(0, 1)
        work = (self.seconds - self._starting) / self.call
        passed, pair, to_do = 0.0, 0, work
        while passed < most and to_do > 0:
            is_together = (pair // 2 + pair) % 2
            for way in (LIBC, ROUTINE) if dice.random() < 0.5 else (ROUTINE, LIBC):
                so_far = passed / (1 - self.idle) / _OF_ALL
                length = min(max(_SHORTEST, so_far), self.longest) * dice.uniform(1, 2)
                is_start = passed < self._starting
                place = STARTING if is_start else COPIES
                level = self.call * (dice.uniform(0.5, 5) if is_start else self._level(way))
                calls = max(8, round(length * (1 - self.idle) / level))
                own = luck * self._stretched(calls * level, dice)
                to_do -= 0 if is_start else calls
                seen = observed.places.setdefault(place, Seen())
                seen.calls += calls
                if is_together:
                    usual = own / calls * (1 + 0.1 / math.sqrt(_KEPT) * dice.gauss(0, 1))
                    waits, are_few = self._waits(dice)
                    key = Pair(process, pair)
                    block = Block(way, [usual + waits], [1.0], calls)
                    seen.together.setdefault(key, []).append(block)
                    whole = Spent(way, own, own if are_few else 0.0)
                    observed.together.setdefault(key, []).append(whole)
                else:
                    seen.own_calls += calls
                passed += own
                observed.cpu_seconds += own
            pair += 1
        return 1 - max(0.0, to_do) / work

    def _waits(self, dice: random.Random) -> tuple[float, bool]:
        """The seconds of waits in the mean of a place's kept intervals, and whether few have
        some."""
        if not self.idle or self.call / (1 - self.idle) > _LONG:
            return 0.0, True
        calls = math.ceil(_TIMED / self.call)
        chance = min(1.0, calls / self.calls)
        wait = self.calls * self.call * self.idle / (1 - self.idle) / calls
        several = sum(dice.random() < chance for _ in range(_KEPT))
        return several / _KEPT * wait * max(1.0, calls / self.calls), chance < 1 / _MOST_WAITING


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
