"""Shows the findings of whole runs and their progress, and writes the JSON (prove.schema.json)."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..atomic_file import write_output
from ..command_line import DONE, STALE, show
from ..faults import one_line
from ..figures import duration_text
from ..modes import modes_told
from ..record.kernel import Used, kernel_words
from .copies import LIBC, OTHER, Copy, again
from .options import UNTOLD
from .rounds import (
    LEAST_ROUNDS,
    NARROW,
    PATTERN,
    SAME,
    SLOWER,
    UNKNOWN,
    Finding,
    Goal,
    Metric,
    Rounds,
    best_of,
    judge,
)

FORMAT, VERSION = "asterope-prove", 3
STOPPED_BY = {
    "rounds": "all rounds ran",
    "until": "all is told that was asked",
    "time": "the time is spent",
    "interrupt": "interrupted",
    "failure": "a run failed",
}


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


def progress(text: str = "") -> None:
    """Writes over one line on stderr if that is a terminal. No text: the line is empty."""
    if sys.stderr is not None and sys.stderr.isatty():  # None: it is closed
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def rounds_progress(rounds: int, reach: float | None, seconds_left: float | None) -> None:
    text = f"round {rounds}"
    if reach is not None:
        text += f", known to {100 * reach:.1f} %"
    if seconds_left is not None:
        text += f", about {duration_text(seconds_left)} left"
    progress(text)


def report(setting: Setting, rounds: Rounds, seconds: float, file: str | None) -> int:
    """Writes and shows the findings until now; returns the exit code."""
    count = len(rounds.done)
    names = [copy.name for copy in setting.copies]
    until = setting.goal.until or NARROW
    findings = judge(rounds, names, until) if count else []
    best, said, shown = None, [], []
    if findings:
        shown.append(
            f"{setting.metric.words}: {count} rounds of {len(names)} copies in "
            f"{duration_text(seconds)}; {STOPPED_BY[rounds.stopped_by]}. Ratio above 1: "
            f"better than {setting.base}."
        )
        for copy in setting.copies:
            if copy.name not in (LIBC, again(LIBC), again(OTHER)):
                shown.append(f"{copy.name}: {one_line(copy.description)}")
        best = best_of(setting.copies, rounds, findings) if setting.has_offers else None
        said = _said(setting, rounds, findings, best)
        shown += ["", table(findings, setting.metric), *said]
    try:
        if file is not None:
            write_output(Path(file), document(setting, rounds, findings, said, seconds, best))
    finally:  # the findings are shown even if a disk is full
        if shown:
            show("\n".join(shown))
    if count < LEAST_ROUNDS:
        return UNTOLD
    offers = {copy.name for copy in setting.copies if copy.is_offer}
    if any(one.verdict == SLOWER and one.name not in offers for one in findings):
        return STALE
    return UNTOLD if any(one.verdict == UNKNOWN for one in findings) else DONE


def _said(
    setting: Setting, rounds: Rounds, findings: Sequence[Finding], best: Copy | None
) -> list[str]:
    """The lines below the table."""
    lines = contradictions(findings, rounds.larger_is_better)
    for copy in setting.copies:
        lines += modes_told(copy.name, rounds.figures(copy.name), "{:.4g}".format)
    unknown = [one for one in findings if one.verdict == UNKNOWN]
    if len(rounds.done) >= LEAST_ROUNDS and any(one.more_rounds is None for one in unknown):
        why = "the figure has too few digits."
        if rounds.has_servers:
            why = f"two servers of one copy differ as much, or {why} Start the command again."
        lines.append(f"No number of rounds tells: {why}")
    if setting.client is None:
        for copy in filter(None, [setting.copies[0], best]):
            lines += of_kernel(copy.name, rounds)
    if best is not None:
        lines.append(f"{best.name} brings most. To have it: {best.line(setting.command)}")
    elif setting.has_offers and unknown:
        lines.append("The fastest copy cannot be told yet.")
    elif setting.has_offers:
        lines.append("Leave it: nothing of this makes the program faster than libc alone does.")
    return lines


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
    faults = round(used.faults / len(rounds.done))
    words = kernel_words(used.kernel_share, faults, who=f"With {name} the kernel")
    return [f"{words} a run."]


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

    def of_copy(copy: Copy) -> dict[str, Any]:
        # a client's use is not its server's
        used = Used() if setting.client else rounds.used(copy.name)
        return {
            **found.get(copy.name, {}),
            "name": copy.name,
            "description": copy.description,
            "kernel_share": round(used.kernel_share, 6) if used.is_known else None,
            "minor_faults": round(used.faults / len(rounds.done)) if used.faults else None,
        }

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
        "rounds": len(rounds.done),
        "noise_floor": found[again(rounds.base)]["ratio"] if found else None,
        "copies": [of_copy(copy) for copy in setting.copies],
        "said": list(said),
        "most": best and {"copy": best.name, "line": best.line(setting.command)},
        "blocks": [
            [
                {"copy": name, "figure": figure, "wall": wall, "cpu": used.seconds}
                for (name, figure), (wall, used) in zip(one_round, times)
            ]
            for one_round in rounds.done
        ],
    }
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"
