"""Shows the result of a trial, and writes it as JSON (trial.schema.json) and as a map of places."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ... import __version__
from ...atomic_file import write_output
from ...command_line import DONE, STALE, show
from ...faults import Failure, one_line
from ...figures import counted
from ...modes import two_modes
from ...place_map import WAYS, MappedPlace, text_of
from ...record.others import AGAINST, others_of
from ...record.symbols import build_id_of, name_functions, told_apart
from ..options import UNTOLD
from . import trial_words
from .blocks import LIBC_AGAIN, ROUTINE, Place
from .findings import Found, PlaceFound, findings
from .run import TIME, NoVerdict, Tried, why_not

FORMAT, VERSION = "asterope-trial", 2

_NOTHING = "This program makes no copies that a library sees: there is nothing to try."
_NONE_YET = "No copy was seen before this program was ended"
_OWN = (*WAYS, ROUTINE, LIBC_AGAIN)
_LONGEST_ID = 64  # digits
# A call pays these seconds for the look-up of its way if another thread runs on its core. On Zen 3
# it pays 3.3 to 4 ns then, and 0.2 ns alone.
_LOOK_UP = 4e-9


def names_in(tried: Tried) -> dict[Place, str]:
    """The calling function of each place."""
    own = [place for place in tried.observed.places if place.is_own]
    return dict(zip(own, name_functions([(place.module, place.offset) for place in own])))


def report(
    tried: Tried,
    command: Sequence[str],
    arguments: argparse.Namespace,
    seconds: float,
    preload: Path,
    judged: Tried | None = None,
) -> int:
    """Returns the exit code. `preload`: the library to have afterwards. `judged`: its trial, if it
    has a map of places. Raises NoVerdict if the trial was hindered, and Failure if a file cannot be
    written."""
    found, last = tried.found(), (judged or tried).found()
    of_map = last if last.has_map else None
    names = names_in(tried)
    sites = [(place.module, place.offset) for place in names]
    apart = dict(zip(names, told_apart(sites, list(names.values()))))
    why, own, observed = why_not(tried), others_of(tried.said).own_words(), tried.observed
    nothing = _NOTHING
    if tried.is_endless:
        nothing = f"{_NONE_YET}, after {observed.lasted:.1f} s."
    unseen = None  # the advice if it may have copies that were not seen
    if own:
        unseen = AGAINST
    elif tried.is_endless and observed.is_idle:
        unseen = trial_words.GIVE_LOAD
    elif tried.is_endless and not observed.places:
        unseen = trial_words.MORE_TIME
    before, after, doubts = [f"Not judged: {why}." if why else nothing], [], []
    if observed.places and not why:
        before = trial_words.before_table(found, of_map, observed)
        after = trial_words.after_table(found, apart)
        doubts = trial_words.doubts(observed, command, tried.is_endless)
        doubts += [f"Note: {one}." for one in own]
    mapped, unwritten, notes = None, None, []
    try:  # the findings are shown even if a disk is full
        if arguments.json is not None:
            said = [*before, *after, *doubts]
            text = document(tried, found, names, apart, said, command, seconds, last)
            write_output(Path(arguments.json), text)
        if arguments.write is not None:
            path = Path(arguments.write)
            notes, has_places = write_map(tried, found, names, command, path)
            mapped = path if has_places and judged is None else None
        elif not of_map:
            notes = trial_words.other_ways(wanted(tried, found))
    except Failure as error:
        unwritten = error
    if why:
        raise NoVerdict(why)
    if observed.places:
        table = [*filter(None, [trial_words.table(found, apart)]), *after]
        shown = [*before, *(["", *table] if table else []), "", *doubts, *notes]
        if tried.stopped_by != "failure":
            is_over = TIME in (tried.stopped_by, judged and judged.stopped_by)
            shown.append(
                trial_words.what_to_do(last, observed, command, preload, mapped, is_over, unseen)
            )
        show("\n".join(shown))
    else:
        show(nothing)
        show(f"Not known: {unseen}." if unseen else "Leave it: nothing to gain here.")
    if unwritten:
        raise unwritten
    return code_of(last, unseen) if observed.places else UNTOLD if unseen else DONE


def code_of(found: Found, unseen: str | None) -> int:
    """`unseen`: see what_to_do()."""
    gain = found.deciding
    if gain is None or not found.is_told or (unseen and not gain.side):
        return UNTOLD
    return STALE if gain.side < 0 else DONE


# --- The map of places ---


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
    count = counted(len(mapped), "place")
    lines = [f"Wrote {one_line(path)}: {count} with another way than the routine."]
    if len(mapped) < len(best):
        count = counted(len(best) - len(mapped), "place")
        lines.append(f"Left out: {count} in files without a build id, which nothing tells apart.")
    foreign = [one for one in found.places if one.best and one.best not in _OWN]
    if foreign:
        ways = ", ".join(sorted({str(one.best) for one in foreign}))
        lines.append(
            f"At {counted(len(foreign), 'place')} another library's copy is best ({ways}): a map "
            "has only the routine's ways."
        )
    write_output(path, text_of(mapped, command))
    return lines, bool(mapped)


# --- The JSON ---


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
    observed, possible = trial.observed, None
    if found.possible is not None:
        least, most = found.possible.gain
        most = most if math.isfinite(most) else None
        possible = {"share": round(found.possible.share, 6), "least": least, "most": most}

    def of_place(one: PlaceFound) -> dict[str, Any]:
        left_out = {"place", "saves", "surely", *(() if two_modes(one.means) else ["means"])}
        its = {name: value for name, value in vars(one).items() if name not in left_out}
        of = {"caller": names.get(one.place, ""), "where": apart.get(one.place, "")}
        return {**vars(one.place), **of, "shown": one.is_shown, **its}

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
        "ways": [way.row for way in trial.ways],
        "gain": found.gain,
        "wall_gain": found.wall_gain,
        "told": last.is_told,
        "unjudged": round(found.unjudged, 6),
        "short": round(found.short, 6),
        "restricted": round(found.restricted, 6),
        "possible": possible,
        "map_gain": last.map_gain,
        "places": [of_place(one) for one in found.places],
    }
    return json.dumps(whole, indent=1, allow_nan=False, default=asdict) + "\n"
