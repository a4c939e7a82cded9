"""The table of findings, and the line that shows progress."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..figures import duration_text
from ..record.kernel import kernel_words
from .copies import Copy
from .metric import PATTERN, Metric
from .rounds import Rounds
from .verdicts import SAME, UNKNOWN, Finding

STOPPED_BY = {
    "rounds": "all rounds ran",
    "until": "all is told that was asked",
    "time": "the time is spent",
    "interrupt": "interrupted",
    "failure": "a run failed",
}


def table(findings: Sequence[Finding], metric: Metric) -> str:
    width = max(len(one.name) for one in findings)
    lines = [f"{'copy':{width}}  {'median':>10}   ratio  (low..high)       verdict"]
    for one in findings:
        figure = f"{one.figure:.5g}" if metric.kind == PATTERN else f"{one.figure:.4g} s"
        lines.append(f"{one.name:{width}}  {figure:>10}")
        if one.ratio is not None:
            interval = f"({one.ratio.low:.3f}..{one.ratio.high:.3f})"
            lines[-1] += f"  {one.ratio.median:6.3f}  {interval:16}  {verdict(one)}"
    return "\n".join(lines)


def verdict(one: Finding) -> str:
    """The verdict in words: how much less or more time the copy takes, with the interval."""
    if one.verdict is None:
        return "(the noise floor)"
    if one.verdict == SAME:
        return f"the same within {100 * one.at_most:.1f} %"
    gains = [100 * (value - 1) for value in (one.ratio.median, one.ratio.low, one.ratio.high)]
    if one.verdict == UNKNOWN:
        more = "" if one.more_rounds is None else f", some {one.more_rounds} more rounds"
        return f"cannot tell yet: from {gains[1]:.1f} to {gains[2]:.1f} %{more}"
    gain, least, most = abs(gains[0]), *sorted(map(abs, gains[1:]))
    return f"{one.verdict}: {gain:.1f} % ({least:.1f} to {most:.1f})"


def contradictions(findings: Sequence[Finding], larger_is_better: bool) -> list[str]:
    """A line for each copy whose medians say the opposite of its ratio: without it a reader would
    doubt the ratio."""
    base, _, *compared = findings
    lines = []
    for one in compared:
        of_medians = one.figure / base.figure if larger_is_better else base.figure / one.figure
        if (of_medians - 1) * (one.ratio.median - 1) < 0:
            lines.append(
                f"{one.name}: the medians alone say {of_medians:.3f}: the machine changed "
                "meanwhile. The ratio compares runs beside each other."
            )
    return lines


def of_kernel(name: str, rounds: Rounds) -> list[str]:
    """A line on the CPU time and page faults of a copy's runs; empty if they are not known."""
    used = rounds.used(name)
    if not used.is_known:
        return []
    faults = round(used.faults / len(rounds.blocks))
    words = kernel_words(used.kernel_share, faults, who=f"With {name} the kernel")
    return [f"{words} a run."]


def what_brings_most(best: Copy | None, is_unknown: bool, command: Sequence[str]) -> str:
    if best is not None:
        return f"{best.name} brings most. To have it: {best.line(command)}"
    if is_unknown:
        return "The fastest copy cannot be told yet."
    return "Leave it: nothing of this makes the program faster than libc alone does."


class ProgressLine:
    """One line on stderr if that is a terminal, written over and over."""

    def say(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def tell(self, rounds: int, reach: float | None, seconds_left: float | None) -> None:
        text = f"round {rounds}"
        if reach is not None:
            text += f", known to {100 * reach:.1f} %"
        if seconds_left is not None:
            text += f", about {duration_text(seconds_left)} left"
        self.say(text)

    def clear(self) -> None:
        self.say("")
