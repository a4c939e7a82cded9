"""The JSON of a trial, described by trial.schema.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ... import __version__
from ...modes import two_modes
from .blocks import Place
from .findings import Found, PlaceFound
from .possible import Possible
from .run import Tried

FORMAT, VERSION = "asterope-trial", 2


def document(
    trial: Tried,
    found: Found,
    names: Mapping[Place, str],
    apart: Mapping[Place, str],
    said: Sequence[str],
    command: Sequence[str],
    seconds: float,
    last: Found,
) -> str:
    """`names`: the calling functions. `apart`: these, and a line or offset if several places share
    one. `said`: the findings in sentences. `last`: the findings of the map's trial, if it had one;
    else the same as `found`."""
    observed = trial.observed
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "tool_version": __version__,
        "command": list(command),
        "seconds": round(seconds, 3),
        "stopped_by": trial.stopped_by,
        "runs": observed.runs,
        "processes": observed.processes,
        "threads": observed.threads,
        "cpu_seconds": round(observed.cpu_seconds, 6),
        "wall_seconds": round(observed.wall_seconds, 6),
        "kernel_share": round(observed.used.kernel_share, 6) if observed.used.is_known else None,
        "minor_faults": observed.used.faults or None,
        "copied_bytes": observed.copied,
        "said": list(said),
        "limits": sorted(observed.limits),
        "ways": [{**asdict(way), "library": str(way.library)} for way in trial.ways],
        "gain": found.gain and asdict(found.gain),
        "wall_gain": found.wall_gain and asdict(found.wall_gain),
        "told": last.is_told,
        "unjudged": round(found.unjudged, 6),
        "short": round(found.short, 6),
        "restricted": round(found.restricted, 6),
        "possible": found.possible and _possible(found.possible),
        "map_gain": last.whole_gain and asdict(last.whole_gain),
        "places": [
            _place(one, names.get(one.place, ""), apart.get(one.place, "")) for one in found.places
        ],
    }
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"


def _possible(one: Possible) -> dict[str, float | None]:
    least, most = one.gain
    finite = most if math.isfinite(most) else None
    return {"share": round(one.share, 6), "least": least, "most": finite}


def _place(one: PlaceFound, function: str, apart: str) -> dict[str, Any]:
    """The fields of a place and of its findings, by their names."""
    found = asdict(one)
    for left_out in ("saves", "surely", *(() if two_modes(one.means) else ("means",))):
        del found[left_out]
    place = {**found.pop("place"), "caller": function, "where": apart}
    return {**place, "shown": one.is_shown, **found}
