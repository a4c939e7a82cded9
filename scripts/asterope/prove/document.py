"""The JSON that --json writes, described by prove.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .. import __version__
from ..record.kernel import Used
from .copies import Copy, again
from .metric import Metric
from .rounds import Goal, Rounds
from .verdicts import Finding

FORMAT, VERSION = "asterope-prove", 3


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
