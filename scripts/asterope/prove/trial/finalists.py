"""Makes routines of a profile's runners-up: of each size's second, of its third, and so on."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from ...faults import BadInput, one_line
from ...preload import compile_routine
from ...profile import load_profile
from ...render import render_routine
from .ways import Way

RANKS = ("second", "third", "fourth")


def ways_of_finalists(profile: Path) -> list[Way]:
    """Their libraries lie among this process's temporary files. Raises BadInput, Failure and
    OSError."""
    raw = load_profile(profile).raw
    ways = []
    for rank, name in enumerate(RANKS):
        changed = _of_rank(raw, rank)
        if changed is None:
            break
        routine = render_routine(load_profile(profile, json.dumps(changed).encode()))
        library = Path(tempfile.mkdtemp()) / f"{name}.so"
        library.write_bytes(compile_routine(routine))
        ways.append(Way(name, library, "asterope_memcpy"))
    if not ways:
        raise BadInput(f"{one_line(profile)}: names no runners-up: tune again")
    return ways


def _of_rank(raw: Any, rank: int) -> Any:
    """The profile as if these had won the races with so many entrants; None: no race has. It
    changes the pipelines of memcpy for the balanced objective."""
    changed, found = copy.deepcopy(raw), False
    for choice in changed["choices"]:
        of = (choice["operation"], choice["kind"], choice.get("intent"))
        runners_up = choice.get("evidence", {}).get("runners_up", ())
        if of == ("memcpy", "pipelines", None) and rank < len(runners_up):
            found = True
            choice["copies"] = {"taken": runners_up[rank]["tuple"]}
            del choice["evidence"]
    return changed if found else None
