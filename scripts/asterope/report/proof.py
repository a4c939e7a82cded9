"""What asterope-prove --json wrote: each copy's ratio to libc over whole runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..one_line import one_line
from .bench import refuse_what_breaks

FORMAT = "asterope-prove"
SCHEMA_FILE = Path(__file__).parents[1] / "prove.schema.json"


def build_proof(raw: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Raises BadInput."""
    refuse_what_breaks(SCHEMA_FILE, raw, where, "run asterope-prove --json again")
    return raw


def finding(proof: Mapping[str, Any]) -> str:
    """What was found, in one sentence without its end."""
    name = one_line(shlex.join(proof["command"]))[:80]
    found = [
        f"{one_line(copy['name'])} is {copy['verdict']}: {copy['ratio']['median']:.3f} x libc "
        f"({copy['ratio']['low']:.3f} to {copy['ratio']['high']:.3f})"
        for copy in proof["copies"]
        if copy.get("verdict") in ("faster", "slower")
    ]
    told = "; ".join(found) or "no copy differs from libc beyond the noise"
    return f"{name}, {proof['rounds']} rounds: {told}"
