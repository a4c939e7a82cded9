"""Makes the map of places from a trial, and the lines about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...atomic_file import write_output
from ...faults import one_line
from ...place_map import WAYS, MappedPlace, counted, text_of
from ...record.symbols import build_id_of
from .blocks import LIBC_AGAIN, ROUTINE, Place
from .findings import Found, PlaceFound, findings
from .run import Tried

_OWN = (*WAYS, ROUTINE, LIBC_AGAIN)
_LONGEST_ID = 64  # digits
# A call pays these seconds for the look-up of its way if another thread runs on its core. On Zen 3
# it pays 3.3 to 4 ns then, and 0.2 ns alone.
_LOOK_UP = 4e-9


def wanted(trial: Tried, found: Found) -> list[tuple[PlaceFound, str]]:
    """Returns the shown places at which another way saves more than its look-up costs. Each comes
    with its file's build id, which may be empty. The way is the best of libc and the routine's
    entry points, even if another library's copy is better still."""
    own = [way for way in trial.names if way in _OWN]
    of_own = found if own == trial.names else findings(trial.observed, own)
    best = [
        one
        for one in of_own.places
        if one.is_shown and one.best not in (None, ROUTINE) and one.saves > _LOOK_UP
    ]
    ids = {module: build_id_of(module) for module in {one.place.module for one in best}}
    ids = {module: text if len(text) <= _LONGEST_ID else "" for module, text in ids.items()}
    return [(one, ids[one.place.module]) for one in best]


def write_map(
    trial: Tried, found: Found, names: Mapping[Place, str], command: Sequence[str], path: Path
) -> tuple[list[str], bool]:
    """Returns lines about the map, and whether it has any place. Raises Failure."""
    best = wanted(trial, found)
    mapped = [
        MappedPlace(
            *(one.place.module, build_id, one.place.offset, names.get(one.place, "")),
            *(one.place.function, one.place.least, str(one.best)),
        )
        for one, build_id in best
        if build_id
    ]
    lines = [f"Wrote {one_line(path)}: {counted(len(mapped))} with another way than the routine."]
    if len(mapped) < len(best):
        count = counted(len(best) - len(mapped))
        lines.append(f"Left out: {count} in files without a build id, which nothing tells apart.")
    foreign = [one for one in found.places if one.best and one.best not in _OWN]
    if foreign:
        ways = ", ".join(sorted({str(one.best) for one in foreign}))
        lines.append(
            f"At {counted(len(foreign))} another library's copy is best ({ways}): a map has only "
            "the routine's ways."
        )
    write_output(path, text_of(mapped, command))
    return lines, bool(mapped)
