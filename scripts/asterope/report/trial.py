"""What asterope-prove --json wrote of a trial: how much faster a program is, in words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..one_line import one_line
from .bench import refuse_what_breaks

FORMAT = "asterope-trial"
SCHEMA_FILE = Path(__file__).parents[1] / "trial.schema.json"

Estimate = Mapping[str, float]


def build_trial(raw: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Raises BadInput."""
    refuse_what_breaks(SCHEMA_FILE, raw, where, "run asterope-prove --json again")
    return raw


def finding(trial: Mapping[str, Any]) -> str:
    """What was found, in one sentence without its end."""
    name = one_line(shlex.join(trial["command"]))[:80]
    told = [
        f"{words} {percents(trial[field])} faster"
        for field, words in (("gain", "with the routine"), ("map_gain", "with its map of places"))
        if trial[field]
    ]
    return f"{name}: {', '.join(told) or 'too little was seen to say'}"


def percents(one: Estimate) -> str:
    value, low, high = (100 * one[end] for end in ("value", "low", "high"))
    return f"{value:+.1f} % ({low:+.1f} to {high:+.1f})"
