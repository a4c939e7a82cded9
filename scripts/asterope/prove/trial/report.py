"""Shows and writes the result of a trial."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ...atomic_file import write_output
from ...command_line import DONE, STALE, show
from ...faults import Failure
from ...record.others import AGAINST, own_copies
from ...record.symbols import name_functions, told_apart
from ..options import UNTOLD
from . import trial_words
from .blocks import Place
from .document import document
from .findings import Found
from .mapping import wanted, write_map
from .run import TIME, Tried, why_not

_NOTHING = "This program makes no copies that a library sees: there is nothing to try."
_NONE_YET = "No copy was seen before this program was ended"


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
    """Returns the exit code. `preload`: the library to have afterwards. `judged`: its trial, if
    it has a map of places. Raises Failure if nothing was seen."""
    found, last = tried.found(), (judged or tried).found()
    whole = last if last.has_whole else None
    names = names_in(tried)
    sites = [(place.module, place.offset) for place in names]
    apart = dict(zip(names, told_apart(sites, list(names.values()))))
    why = why_not(tried)
    nothing = _NOTHING
    if tried.is_endless:
        nothing = f"{_NONE_YET}, after {tried.observed.lasted:.1f} s."
    own = own_copies(tried.said)
    unseen = AGAINST if own else _of_unseen(tried)
    before, after, doubts = [f"Not judged: {why}." if why else nothing], [], []
    if tried.observed.places and not why:
        before = trial_words.before_table(found, whole, tried.observed)
        after = trial_words.after_table(found, apart)
        doubts = trial_words.doubts(tried.observed, command, tried.is_endless)
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
        elif not whole:
            notes = trial_words.other_ways(wanted(tried, found))
    except Failure as error:
        unwritten = error
    if why:
        raise Failure(why)
    if tried.observed.places:
        table = [*filter(None, [trial_words.table(found, apart)]), *after]
        shown = [*before, *(["", *table] if table else []), "", *doubts, *notes]
        if tried.stopped_by != "failure":
            is_over = tried.stopped_by == TIME
            about = (last, tried.observed, command, preload, mapped, is_over, unseen)
            shown.append(trial_words.what_to_do(*about))
        show("\n".join(shown))
    else:
        show(nothing)
        show(f"Not known: {unseen}." if unseen else "Leave it: nothing to gain here.")
    if unwritten:
        raise unwritten
    return code_of(last, unseen) if tried.observed.places else UNTOLD if unseen else DONE


def _of_unseen(tried: Tried) -> str | None:
    """The advice if the program may have copies that were not seen."""
    if not tried.is_endless:
        return None
    if tried.observed.is_idle:
        return trial_words.GIVE_LOAD
    return None if tried.observed.places else trial_words.MORE_TIME


def code_of(found: Found, unseen: str | None = None) -> int:
    """`unseen`: see what_to_do()."""
    gain = found.deciding
    if gain is None or not found.is_told or (unseen and not gain.side):
        return UNTOLD
    return STALE if gain.side < 0 else DONE
