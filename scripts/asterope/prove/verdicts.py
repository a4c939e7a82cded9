"""What the rounds say of each copy: faster, slower, or no difference above so many percent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ..profile import Ratio
from ..robust import ratio_interval
from .copies import LIBC, LIBC_AGAIN
from .metric import Figure
from .rounds import LEAST_ROUNDS, Rounds

FASTER, SLOWER, SAME, UNKNOWN = "faster", "slower", "no difference", "unknown"
# In half-widths of a 95 % interval beyond the noise: an effect of that size is found in 80 of 100
# experiments. One half-width would do in 50, and 0.84 of 1.96 more in 80, if noise and width were
# the same in each experiment; the rest is for their own scatter (tests/python measures it).
_POWER = 1.75


@dataclass(frozen=True)
class Finding:
    """One copy. `ratio`: libc's time over its own, None for libc; `smallest_effect` and
    `at_most`: 0.01 for 1 %, None where there are too few rounds, and for libc."""

    name: str
    figure: float  # median
    ratio: Ratio | None = None
    smallest_effect: float | None = None  # what would have been found in 80 of 100 experiments
    at_most: float | None = None  # how far the interval reaches from 1
    verdict: str | None = None


@dataclass(frozen=True)
class Findings:
    """All copies in the order of `names`; the floor is libc's ratio to itself."""

    floor: Ratio
    copies: Sequence[Finding]

    @property
    def compared(self) -> list[Finding]:
        return [one for one in self.copies if one.verdict is not None]


def judge(rounds: Rounds, names: Sequence[str]) -> Findings:
    """Of at least one round."""
    floor = ratio_interval(rounds.logs(LIBC_AGAIN))
    step, rounding = _step(rounds), _rounding(rounds)
    enough = len(rounds.blocks) >= LEAST_ROUNDS
    copies = []
    for name in names:
        figure = float(median(rounds.figures(name)))
        if name == LIBC:
            copies.append(Finding(name, figure))
        elif name == LIBC_AGAIN:
            copies.append(Finding(name, figure, floor))
        else:
            ratio = ratio_interval(rounds.logs(name))
            copies.append(_finding(name, figure, ratio, floor, step, rounding, enough))
    return Findings(floor, copies)


def _rounding(rounds: Rounds) -> float:
    """Of the ratio of two figures, as a logarithm; 0 for clocks."""
    figures = [figure for block in rounds.blocks for _, figure in block]
    return median(figure.rounding if isinstance(figure, Figure) else 0.0 for figure in figures)


def _step(rounds: Rounds) -> float:
    """The logarithm of the smallest step between two figures: large where they are multiples of
    something, next to nothing for clocks."""
    ranked = sorted({figure for block in rounds.blocks for _, figure in block})
    return min((math.log(b) - math.log(a) for a, b in zip(ranked, ranked[1:])), default=0.0)


def _finding(
    name: str,
    figure: float,
    ratio: Ratio,
    floor: Ratio,
    step: float,
    rounding: float,
    enough: bool,
) -> Finding:
    half_width = (math.log(ratio.high) - math.log(ratio.low)) / 2
    factor = math.exp(rounding)
    ratio = Ratio(ratio.median, ratio.low / factor, ratio.high * factor)
    if not enough:
        return Finding(name, figure, ratio, verdict=UNKNOWN)
    # Two processes of libc may differ by so much in either direction, by where they happen to lie.
    noise = max(_distance(floor), step / 2)
    return Finding(
        name,
        figure,
        ratio,
        math.expm1(max(noise + rounding + _POWER * half_width, step)),
        math.expm1(max(_distance(ratio), step)),
        _verdict(ratio, noise),
    )


def _distance(ratio: Ratio) -> float:
    """From a ratio of 1 to the further end of the interval, as a logarithm."""
    return max(abs(math.log(ratio.low)), abs(math.log(ratio.high)))


def _verdict(ratio: Ratio, noise: float) -> str:
    if math.log(ratio.low) > noise:
        return FASTER
    return SLOWER if math.log(ratio.high) < -noise else SAME
