"""Runs the copies in shuffled rounds, each of which has every copy once, until enough is known. It
judges each copy by them: faster, slower, the same, or not told yet."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median

from ..faults import BadInput, Failure, one_line
from ..profile import Ratio
from ..record.kernel import Used
from ..robust import signed_rank_interval
from .copies import LIBC, Copy, again
from .processes import Run

# With fewer values, no interval without an assumed distribution holds the median with 95 %.
LEAST_ROUNDS = 6
# Each look may mistake luck for a difference. So looks are few, and they decide by a stricter
# interval than that of 95 % that is shown.
_LOOKS, _SURE = 1.3, 0.995
NARROW = 0.01
FASTER, SLOWER, SAME, UNKNOWN = "faster", "slower", "the same", "cannot tell yet"
# Within these bounds the ratio of two figures and its interval are finite floating-point numbers.
_LEAST, _MOST = 1e-50, 1e50
WALL, CPU, PATTERN = "wall", "cpu", "pattern"


# --- The compared figure: a run's wall-clock time, its CPU time, or a number that it prints ---


@dataclass(frozen=True)
class Metric:
    kind: str
    pattern: re.Pattern[str] | None = None
    larger_is_better: bool = False

    @property
    def words(self) -> str:
        """For a table's head."""
        if self.pattern is None:
            return {WALL: "wall-clock time", CPU: "CPU time"}[self.kind]
        better = "larger" if self.larger_is_better else "smaller"
        return f"{one_line(self.pattern.pattern)} ({better} is better)"

    def of(self, run: Run) -> float:
        """The run's figure, which is above 0; a printed one is a Figure. Raises Failure."""
        if self.pattern is None:
            return run.wall if self.kind == WALL else run.used.seconds
        found = [*self.pattern.finditer(run.output)]
        if not found:
            raise Failure(f"prints nothing that --metric {one_line(self.pattern.pattern)} matches")
        text = found[-1][1] or ""  # the last one is a summary
        try:
            figure = float(text)
        except ValueError:
            shown = one_line(text)[:40] or "nothing"
            raise Failure(f"--metric: {shown!r} is not a number") from None
        if not _LEAST <= figure <= _MOST:
            raise Failure(
                f"--metric: {one_line(text)[:40]} has no usable ratio to another: it must be above "
                f"0, from {_LEAST:g} to {_MOST:g}"
            )
        return Figure(figure, 10.0 ** int(Decimal(text).as_tuple().exponent))


class Figure(float):
    """A number that was printed; `step`: one in its last digit, 0.1 for "4.5"."""

    step: float

    def __new__(cls, value: float, step: float) -> Figure:
        figure = super().__new__(cls, value)
        figure.step = step
        return figure

    @property
    def rounding(self) -> float:
        """How far rounding may move the logarithm of its ratio to another such figure: by half of
        the last digit of each."""
        return math.log((self + self.step / 2) / (self - self.step / 2))


def parse_metric(text: str, larger_is_better: bool) -> Metric:
    """Raises BadInput."""
    if text in (WALL, CPU):
        if larger_is_better:
            raise BadInput(f"--larger-is-better is for a REGEX, and less {text} time is better")
        return Metric(text)
    try:
        pattern = re.compile(text, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(f"--metric {one_line(text)[:80]}: {one_line(error)}") from None
    if pattern.groups < 1:
        raise BadInput(
            f"--metric {one_line(text)[:80]}: is neither wall nor cpu nor a regular expression "
            r"with the number in parentheses, as in 'took ([0-9.]+) s'"
        )
    return Metric(PATTERN, pattern, larger_is_better)


# --- Rounds ---


@dataclass(frozen=True)
class Goal:
    """When to stop. `until`: once each copy is faster or slower, or its interval reaches no further
    than that from its ratio, 0.01 for 1 %."""

    rounds: int | None = None
    until: float | None = None
    seconds: float | None = None


@dataclass
class Rounds:
    """The measurements: `done` holds the rounds, each of (copy, figure), in the order in which they
    ran. The others are compared with `base`."""

    larger_is_better: bool = False
    base: str = LIBC
    # A server runs for all rounds, and its memory keeps its addresses. So two servers with libc may
    # differ each time. Otherwise each run has luck of its own, and the interval holds it.
    has_servers: bool = False
    done: list[list[tuple[str, float]]] = field(default_factory=list)
    stopped_by: str = ""
    # The wall-clock seconds and the use of every run, whichever metric was asked for. An unfinished
    # round's are the last ones.
    times: list[tuple[float, Used]] = field(default_factory=list)

    def figures(self, name: str) -> list[float]:
        return [dict(one_round)[name] for one_round in self.done]

    def logs(self, name: str, other: str | None = None) -> list[float]:
        """The logarithms of the other's figure (the base's) over the copy's, round by round. Above
        0 the copy is better.

        It takes only one of the base's two runs. With the mean of both, noise with a long tail on
        one side would not cancel out. Then the median of the differences would not be 0.
        """
        sign = -1 if self.larger_is_better else 1
        pairs = zip(self.figures(other or self.base), self.figures(name))
        return [sign * (math.log(base) - math.log(own)) for base, own in pairs]

    def used(self, name: str) -> Used:
        """The sum of the use of all runs of the copy in whole rounds."""
        names = (one for one_round in self.done for one, _ in one_round)
        return sum((used for one, (_, used) in zip(names, self.times) if one == name), Used())

    def floor(self) -> tuple[float, float]:
        """How much two servers of the base differ, and at most, as logarithms; 0 for runs."""
        if not self.has_servers:
            return 0.0, 0.0
        found = signed_rank_interval(self.logs(again(self.base)))
        return abs(found.median), max(abs(found.low), abs(found.high))

    def reach(self) -> float:
        """The reach of the widest interval that decides nothing yet, from its ratio and as a part
        of it; 0 if all intervals decide."""
        widest, (_, noise) = 0.0, self.floor()
        for name in {name for name, _ in self.done[0]} - {self.base, again(self.base)}:
            sure = signed_rank_interval(self.logs(name), _SURE)
            if sure.low <= noise and sure.high >= -noise:
                own = signed_rank_interval(self.logs(name))
                widest = max(widest, own.high - own.median, own.median - own.low)
        return math.expm1(widest)


def measure(
    into: Rounds,
    names: Sequence[str],
    figure: Callable[[str], float],
    goal: Goal,
    seed: int,
    tell: Callable[[int, float | None, float | None], None] = lambda *_: None,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Adds whole rounds to `into` until the goal is reached. It begins no round if the time left is
    shorter than the mean round. After an interruption, `into` keeps its rounds. `tell` gets after
    each round the number of rounds, their reach and the seconds left; None: not known."""
    order = random.Random(seed)
    began, next_look = now(), LEAST_ROUNDS
    reach: float | None = None
    while True:
        count, passed = len(into.done), now() - began
        each = passed / count if count else 0.0
        if count >= next_look:
            reach, next_look = into.reach(), max(count + 1, int(count * _LOOKS))
            if goal.until is not None and reach <= goal.until:
                into.stopped_by = "until"
                return
        if goal.rounds is not None and count >= goal.rounds:
            into.stopped_by = "rounds"
            return
        if goal.seconds is not None and passed + each > goal.seconds:
            into.stopped_by = "time"
            return
        if count:
            tell(count, reach, _seconds_left(goal, count, passed, reach))
        names_now = list(names)
        order.shuffle(names_now)
        into.done.append([(name, figure(name)) for name in names_now])


def _seconds_left(goal: Goal, count: int, passed: float, reach: float | None) -> float | None:
    """Seconds until the goal's first limit. An interval narrows with the root of the rounds."""
    ends = [] if goal.seconds is None else [goal.seconds - passed]
    if goal.rounds is not None:
        ends.append((goal.rounds - count) * passed / count)
    if goal.until and reach is not None:
        ends.append(max(0.0, (reach / goal.until) ** 2 - 1) * passed)
    return max(0.0, min(ends)) if ends else None


# --- Verdicts ---


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


def judge(rounds: Rounds, names: Sequence[str], until: float) -> list[Finding]:
    """Judges at least one round, for the copies in the order of `names`. `until`: a difference
    below that part counts as the same."""
    printed = (figure for one_round in rounds.done for _, figure in one_round)
    # the error of the ratio of two figures, as a logarithm; 0 for clocks
    rounding = median(one.rounding if isinstance(one, Figure) else 0.0 for one in printed)
    floor, findings = rounds.floor(), []
    for name in names:
        figure = float(median(rounds.figures(name)))
        ratio = None if name == rounds.base else _interval(rounds, name, rounding)
        if ratio is None or name == again(rounds.base):
            findings.append(Finding(name, figure, ratio))
            continue
        told = _verdict(len(rounds.done), ratio, *floor, rounding, until)
        findings.append(Finding(name, figure, ratio, math.expm1(_distance(ratio)), *told))
    return findings


def _interval(rounds: Rounds, name: str, rounding: float) -> Ratio:
    """The ratio of the base's figure to the copy's; both may be off by their rounding."""
    found, factor = signed_rank_interval(rounds.logs(name)), math.exp(rounding)
    low, high = math.exp(found.low) / factor, math.exp(found.high) * factor
    return Ratio(math.exp(found.median), low, high)


def _verdict(
    count: int, ratio: Ratio, stays: float, noise: float, rounding: float, until: float
) -> tuple[str, int | None]:
    """Also returns the number of further rounds until the interval excludes 1 or is narrow enough,
    if the ratios stay the same. It narrows with the square root of the rounds; the figures'
    rounding and the difference of servers stay. `stays`, `noise`: see Rounds.floor()."""
    if count < LEAST_ROUNDS:
        return UNKNOWN, None
    if math.log(ratio.low) > noise:
        return FASTER, None
    if math.log(ratio.high) < -noise:
        return SLOWER, None
    if _distance(ratio) <= math.log1p(until):
        return SAME, None
    half, gain = math.log(ratio.high / ratio.low) / 2 - rounding, abs(math.log(ratio.median))
    other = (half + noise - stays, gain - stays - rounding)
    alike = (half, math.log1p(until) - gain - rounding)
    times = [wide / room for wide, room in (other, alike) if room > 0]
    return UNKNOWN, max(1, math.ceil(count * (min(times) ** 2 - 1))) if times else None


def _distance(ratio: Ratio) -> float:
    """The distance from a ratio of 1 to the further end of the interval, as a logarithm."""
    return max(abs(math.log(ratio.low)), abs(math.log(ratio.high)))


def best_of(copies: Sequence[Copy], rounds: Rounds, findings: Sequence[Finding]) -> Copy | None:
    """The copy that makes the program fastest; of several that are as good, the one with the fewest
    settings. None: no copy surely makes the program faster than libc alone."""
    gains = {one.name: one.ratio.median for one in findings if one.verdict == FASTER and one.ratio}
    if not gains:
        return None
    fastest = max(gains, key=gains.__getitem__)

    def is_as_good(name: str) -> bool:
        return name == fastest or signed_rank_interval(rounds.logs(fastest, name)).low <= 0

    def cost(copy: Copy) -> tuple[int, float]:
        """The settings that a user has to make for it count first."""
        return len(copy.settings) + (copy.library is not None), -gains[copy.name]

    as_good = [copy for copy in copies if copy.name in gains and is_as_good(copy.name)]
    return min(as_good, key=cost)
