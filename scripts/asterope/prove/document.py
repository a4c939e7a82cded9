"""The JSON that --json writes, described by prove.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .. import __version__
from .copies import Copy
from .metric import Metric
from .rounds import Goal, Rounds
from .verdicts import Findings

FORMAT, VERSION = "asterope-prove", 2


@dataclass(frozen=True)
class Setting:
    """What was run, and how."""

    command: Sequence[str]
    client: Sequence[str] | None
    metric: Metric
    copies: Sequence[Copy]
    goal: Goal
    seed: int
    started: str  # in UTC, as 2026-11-22T12:00:00Z
    libc: str

    @property
    def base(self) -> str:
        """What the others are compared with, for people."""
        return self.libc if self.copies[0].command is None else self.copies[0].name


def document(setting: Setting, rounds: Rounds, findings: Findings | None, seconds: float) -> str:
    found = {one.name: asdict(one) for one in findings.copies} if findings else {}
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
        "noise_floor": asdict(findings.floor) if findings else None,
        "copies": [
            {**found.get(copy.name, {}), "name": copy.name, "description": copy.description}
            for copy in setting.copies
        ],
        "blocks": [
            [
                {"copy": name, "figure": figure, "wall": wall, "cpu": cpu}
                for (name, figure), (wall, cpu) in zip(block, times)
            ]
            for block, times in zip(rounds.blocks, rounds.times_by_block())
        ],
    }
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"
