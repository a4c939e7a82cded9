"""The findings of whole runs: the table, sentences, and the JSON (prove.schema.json). Also the line
that shows progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .. import __version__
from ..figures import duration_text
from ..record.kernel import Used, kernel_words
from .copies import Copy, again
from .metric import PATTERN, Metric
from .rounds import SAME, UNKNOWN, Finding, Goal, Rounds

FORMAT, VERSION = "asterope-prove", 3
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


# --- The JSON ---


@dataclass(frozen=True)
class Setting:
    """The command, and how it was run."""

    command: Sequence[str]
    client: Sequence[str] | None
    metric: Metric
    copies: Sequence[Copy]
    goal: Goal
    seed: int
    started: str  # in UTC, as 2026-11-22T12:00:00Z
    libc: str

    @property
    def has_offers(self) -> bool:
        return any(copy.is_offer for copy in self.copies)

    @property
    def base(self) -> str:
        """The copy that the others are compared with, for people."""
        return self.libc if self.copies[0].command is None else self.copies[0].name


def _of_kernel(setting: Setting, rounds: Rounds, copy: Copy) -> dict[str, float | None]:
    used = Used() if setting.client else rounds.used(copy.name)  # a client's is not its server's
    return {
        "kernel_share": round(used.kernel_share, 6) if used.is_known else None,
        "minor_faults": round(used.faults / len(rounds.blocks)) if used.faults else None,
    }


def document(
    setting: Setting,
    rounds: Rounds,
    findings: Sequence[Finding],
    said: Sequence[str],
    seconds: float,
    best: Copy | None = None,
) -> str:
    """`said`: the sentences below the table. `best`: the copy that brings most, if --tunables asked
    for it."""
    found = {one.name: asdict(one) for one in findings}
    times = iter(rounds.times)
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "tool_version": __version__,
        "command": list(setting.command),
        "client": None if setting.client is None else list(setting.client),
        "metric": {
            "kind": setting.metric.kind,
            "pattern": setting.metric.pattern and setting.metric.pattern.pattern,
            "larger_is_better": setting.metric.larger_is_better,
        },
        "libc": setting.libc,
        "started": setting.started,
        "seconds": round(seconds, 3),
        "seed": setting.seed,
        "goal": asdict(setting.goal),
        "stopped_by": rounds.stopped_by,
        "rounds": len(rounds.blocks),
        "noise_floor": found[again(rounds.base)]["ratio"] if found else None,
        "copies": [
            {
                **found.get(copy.name, {}),
                "name": copy.name,
                "description": copy.description,
                **_of_kernel(setting, rounds, copy),
            }
            for copy in setting.copies
        ],
        "said": list(said),
        "most": best and {"copy": best.name, "line": best.line(setting.command)},
        "blocks": [
            [
                {"copy": name, "figure": figure, "wall": wall, "cpu": used.seconds}
                for (name, figure), (wall, used) in zip(block, times)
            ]
            for block in rounds.blocks
        ],
    }
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"
