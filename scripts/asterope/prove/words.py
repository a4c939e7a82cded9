"""The table of findings, and the line that shows progress."""

from __future__ import annotations

from typing import TextIO

from ..profile import Ratio
from .copies import LIBC_AGAIN
from .metric import PATTERN, Metric
from .rounds import Progress
from .verdicts import FASTER, SAME, SLOWER, Finding, Findings

STOPPED_BY = {
    "rounds": "all rounds ran",
    "until": "the intervals are as narrow as asked",
    "time": "the time is spent",
    "interrupt": "interrupted",
    "failure": "a run failed",
}


def table(findings: Findings, metric: Metric) -> str:
    width = max(len(one.name) for one in findings.copies)
    head = f"{'copy':{width}}  {'median':>10}   ratio  (low..high)       could see  verdict"
    return "\n".join([head, *(_row(one, width, metric) for one in findings.copies)])


def _row(one: Finding, width: int, metric: Metric) -> str:
    row = f"{one.name:{width}}  {_figure(one.figure, metric):>10}"
    if one.ratio is not None:
        interval = f"({one.ratio.low:.3f}..{one.ratio.high:.3f})"
        seen = "" if one.smallest_effect is None else f"{100 * one.smallest_effect:.1f} %"
        row += f"  {one.ratio.median:6.3f}  {interval:16}  {seen:>8}  {verdict(one)}"
    return row.rstrip()


def _figure(figure: float, metric: Metric) -> str:
    return f"{figure:.5g}" if metric.kind == PATTERN else f"{figure:.4g} s"


def verdict(one: Finding) -> str:
    """Faster and slower by how much less or more time; with their intervals."""
    if one.name == LIBC_AGAIN:
        return "(the noise floor)"
    if one.verdict == SAME:
        return f"no difference above {100 * one.at_most:.1f} %"
    if one.verdict in (FASTER, SLOWER):
        return f"{one.verdict}: {_gain(one.ratio)}"
    return "too few rounds to say"


def _gain(ratio: Ratio) -> str:
    percents = [100 * abs(value - 1) for value in (ratio.median, ratio.low, ratio.high)]
    least, most = sorted(percents[1:])
    return f"{percents[0]:.1f} % ({least:.1f} to {most:.1f})"


def duration(seconds: float) -> str:
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


class ProgressLine:
    """One line on a terminal, written over and over; nothing elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream if stream.isatty() else None

    def say(self, text: str) -> None:
        if self._stream:
            print(f"\r\033[K{text}", end="", file=self._stream, flush=True)

    def tell(self, progress: Progress) -> None:
        text = f"round {progress.rounds}"
        if progress.reach is not None:
            text += f", known to {100 * progress.reach:.1f} %"
        if progress.seconds_left is not None:
            text += f", about {duration(progress.seconds_left)} left"
        self.say(text)

    def clear(self) -> None:
        self.say("")
