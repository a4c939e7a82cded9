"""Paired timing of programs: with libc's copy, with the library, and with libc's copy again."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from ..profile import Ratio
from ..robust import ratio_interval

Key = TypeVar("Key")
LIBC, OURS, LIBC_AGAIN = range(3)


@dataclass(frozen=True)
class Comparison:
    """Median seconds, and ratios of the rounds' times, with their intervals."""

    libc: float
    ours: float
    ratio: Ratio  # libc's time over ours: above 1, the library is faster
    floor: Ratio  # libc's over libc's: the noise floor

    @property
    def verdict(self) -> str:
        """Beyond doubt faster or slower where the interval is clear of 1 and of the floor's."""
        if self.ratio.low > max(1.0, self.floor.high):
            return "faster"
        if self.ratio.high < min(1.0, self.floor.low):
            return "slower"
        return "nil: inside the floor"


def compare(
    keys: Sequence[Key], rounds: int, seconds: Callable[[Key, int], float]
) -> dict[Key, Comparison]:
    """Times `seconds(key, side)` of all keys and sides in each round: for each key the sides right
    after one another, in an order of their own, so that what is compared is close in time. A first
    round is not counted: it fills what a fresh process has yet to fill."""
    order = random.Random(0)  # the same in every run
    logs: dict[Key, list[list[float]]] = {key: [[], [], []] for key in keys}
    for round_number in range(rounds + 1):
        for key in keys:
            sides = [LIBC, OURS, LIBC_AGAIN]
            order.shuffle(sides)
            for side in sides:
                log = math.log(seconds(key, side))
                if round_number:
                    logs[key][side].append(log)
    return {key: _comparison(*logs[key]) for key in keys}


def _comparison(
    libc: Sequence[float], ours: Sequence[float], libc_again: Sequence[float]
) -> Comparison:
    def ratio(under: Sequence[float]) -> Ratio:
        return ratio_interval([a - b for a, b in zip(libc, under)])

    return Comparison(
        math.exp(median(libc)), math.exp(median(ours)), ratio(ours), ratio(libc_again)
    )
