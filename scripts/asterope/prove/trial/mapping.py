"""The map of places that a trial leaves, and what it says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...faults import one_line
from ...place_map import WAYS, MappedPlace, counted, text_of
from ...record.symbols import build_id_of
from .blocks import LIBC_AGAIN, ROUTINE, Place
from .findings import Found, findings
from .run import Tried

_LONGEST_ID = 64  # digits
# Seconds: what a call pays for its way by place where another thread has a share in its core: on
# Zen 3 3.3 to 4, and 0.2 alone.
_LOOK_UP = 4e-9


def map_of(
    trial: Tried, found: Found, names: Mapping[Place, str], command: Sequence[str], path: Path
) -> tuple[str, list[str], bool]:
    """Its text, lines about it, and whether it has any place. Of each place it has the best of libc
    and the routine's entry points, where another library's copy is better still as well."""
    own = [way for way in trial.names if way in (*WAYS, ROUTINE, LIBC_AGAIN)]
    of_own = found if own == trial.names else findings(trial.observed, own)
    best = [
        (one.place, one.best)
        for one in of_own.places
        if one.place.is_own and one.best not in (None, ROUTINE) and one.saves > _LOOK_UP
    ]
    ids = {module: build_id_of(module) for module in {place.module for place, _ in best}}
    mapped = [
        MappedPlace(
            *(place.module, ids[place.module], place.offset, names.get(place, "")),
            *(place.function, place.least, way),
        )
        for place, way in best
        if 0 < len(ids[place.module]) <= _LONGEST_ID
    ]
    lines = [f"Wrote {one_line(path)}: {counted(len(mapped))} with another way than the routine."]
    if len(mapped) < len(best):
        count = counted(len(best) - len(mapped))
        lines.append(f"Left out: {count} in files without a build id, which nothing tells apart.")
    foreign = [one for one in found.places if one.best and one.best not in own]
    if foreign:
        ways = ", ".join(sorted({str(one.best) for one in foreign}))
        lines.append(
            f"At {counted(len(foreign))} another library's copy is best ({ways}), which no map of "
            "the routine's ways has."
        )
    return text_of(mapped, command), lines, bool(mapped)
