"""The verdict of the rounds on each copy: faster, slower, the same, or not told yet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ..profile import Ratio
from ..robust import signed_rank_interval
from .copies import again
from .metric import Figure
from .rounds import LEAST_ROUNDS, NARROW, Rounds

FASTER, SLOWER, SAME, UNKNOWN = "faster", "slower", "the same", "cannot tell yet"


@dataclass(frozen=True)
class Finding:
    """One copy. `ratio`: the base's time over its own, None for the base. `at_most`: how far the
    interval reaches from 1, 0.01 for 1 %. `verdict`: None for the base and its second runs, which
    are the noise floor. `more_rounds`: about how many more rounds would tell; None if they already
    tell, or if that number is unknown."""

    name: str
    figure: float  # median
    ratio: Ratio | None = None
    at_most: float | None = None
    verdict: str | None = None
    more_rounds: int | None = None


def judge(
    rounds: Rounds, names: Sequence[str], until: float = NARROW, has_servers: bool = False
) -> list[Finding]:
    """Judges at least one round, for the copies in the order of `names`. `until`: a difference
    below that part counts as the same. `has_servers`: a server runs for all rounds, and its memory
    keeps its addresses. So two servers with libc may differ each time, and the floor counts.
    Otherwise each run has luck of its own, and the interval holds it."""
    count, rounding = len(rounds.blocks), _rounding(rounds)
    noise = _distance(_interval(rounds, again(rounds.base), 0.0)) if has_servers else 0.0
    findings = []
    for name in names:
        figure = float(median(rounds.figures(name)))
        ratio = None if name == rounds.base else _interval(rounds, name, rounding)
        if ratio is None or name == again(rounds.base):
            findings.append(Finding(name, figure, ratio))
            continue
        verdict, more = _verdict(count, ratio, noise, until), None
        if verdict == UNKNOWN:
            more = _more_rounds(count, ratio, rounding, until)
        at_most = math.expm1(_distance(ratio))
        findings.append(Finding(name, figure, ratio, at_most, verdict, more))
    return findings


def is_surely_better(rounds: Rounds, name: str, other: str) -> bool:
    """Compares the two copies by their ratio within each round."""
    return signed_rank_interval(rounds.logs(name, other)).low > 0


def _interval(rounds: Rounds, name: str, rounding: float) -> Ratio:
    """The ratio of the base's figure to the copy's; both may be off by their rounding."""
    found, factor = signed_rank_interval(rounds.logs(name)), math.exp(rounding)
    low, high = math.exp(found.low) / factor, math.exp(found.high) * factor
    return Ratio(math.exp(found.median), low, high)


def _verdict(count: int, ratio: Ratio, noise: float, until: float) -> str:
    if count < LEAST_ROUNDS:
        return UNKNOWN
    if math.log(ratio.low) > noise:
        return FASTER
    if math.log(ratio.high) < -noise:
        return SLOWER
    return SAME if _distance(ratio) <= math.log1p(until) else UNKNOWN


def _more_rounds(count: int, ratio: Ratio, rounding: float, until: float) -> int | None:
    """The number of further rounds until the interval excludes 1 or is narrow enough, if the ratio
    stays the same. It narrows with the square root of the rounds; the figures' rounding stays."""
    half = math.log(ratio.high / ratio.low) / 2 - rounding
    nearest = max(abs(math.log(ratio.median)), math.log1p(until) - abs(math.log(ratio.median)))
    nearest -= rounding
    if count < LEAST_ROUNDS or nearest <= 0:
        return None
    return max(1, math.ceil(count * ((half / nearest) ** 2 - 1)))


def _rounding(rounds: Rounds) -> float:
    """The error of the ratio of two figures, as a logarithm; 0 for clocks."""
    figures = [figure for block in rounds.blocks for _, figure in block]
    return median(figure.rounding if isinstance(figure, Figure) else 0.0 for figure in figures)


def _distance(ratio: Ratio) -> float:
    """The distance from a ratio of 1 to the further end of the interval, as a logarithm."""
    return max(abs(math.log(ratio.low)), abs(math.log(ratio.high)))
