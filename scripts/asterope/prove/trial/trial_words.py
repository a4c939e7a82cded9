"""The result of a trial in words: one sentence, the places, and the advice."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...faults import one_line
from ...figures import count_text, counted, place_text
from ...modes import modes_told
from ...preload_link import preload_line
from ...record.kernel import kernel_words, to_try_tunables
from ...record.recorder import TO_OPEN
from ...render import FRESH, human_size
from ..programs import to_map
from .blocks import CLOSED, LIBC, LIBC_AGAIN, LIMITS, ROUTINE, UNSEEN, Observed, Place
from .findings import FEW, MATTERS, MOST_UNJUDGED, SAME, Found, PlaceFound, at_most
from .statistics import Estimate

_WITH = "With the routine this program"
MOST_PLACES = 12  # of a table, and of a picture
_MOST_NOT_SHOWN = 3  # places that are named behind the table
_WIDTH = 40  # of the column of places
GIVE_LOAD = "it waited nearly all the time: give it load, such as a client that asks it for more"
MORE_TIME = "give it more --time"

Names = Mapping[Place, str]


def sentence(found: Found) -> str:
    why = found.why_untold(found.gain)
    if why is not None:
        return f"How fast this program is with the routine cannot be told: {why}."
    gain = found.gain
    assert gain is not None
    if gain.side:
        start = f"{_WITH} runs {by(gain)}"
    else:
        start = f"{_WITH} is as fast as with libc, within {at_most(gain.reach)} %"
    return f"{start}; {_where_slower(found)}."


def _where_slower(found: Found) -> str:
    if found.slower:
        return f"it is slower than libc at {counted(len(found.slower), 'place')}"
    if found.gain is None or found.gain.side >= 0:
        return "no place is slower"
    if found.shown or found.unjudged_places:  # a row or a line says why
        return "the slower places are not known"
    return f"each place takes less than {100 * MATTERS:.0f} % of the time, and is not judged"


def sentence_of_map(found: Found) -> str:
    """The words for the library that has the map."""
    gain, beside = found.map_gain, found.gain_over_routine
    why = found.why_untold(gain)
    if gain is None or beside is None or why is not None:
        why = why or found.why_untold(None)
        return f"How fast this program is with its map cannot be told: {why}."
    told = f"runs {by(gain)} than with libc"
    if gain.low <= 0 <= gain.high:
        told = f"is as fast as with libc, within {at_most(gain.reach)} %"
    text = f"With the routine and its map of places it {told}"
    if found.is_map_worse:
        return f"{text}: {by(beside)} than with the routine alone, so the map is not taken."
    known = by(beside) if beside.low > 0 else f"within {at_most(beside.reach)} % as fast"
    return f"{text}, and {known} {'than' if beside.low > 0 else 'as'} with the routine alone."


def by(gain: Estimate, how: str = "") -> str:
    word = "faster"
    if gain.value < 0:
        word, gain = "slower", Estimate(-gain.value, -gain.high, -gain.low)
    return f"{100 * gain.value:.1f} % {word}{how} ({100 * gain.low:.1f} to {100 * gain.high:.1f})"


def clock_line(found: Found, observed: Observed) -> str:
    """Says how much ran. If the program waited, it also tells the gain by the clock. It does not do
    so for several processes or threads, as others may not wait for those that save time."""
    many = f"{counted(observed.runs, 'run')}, {counted(observed.processes, 'process', 'processes')}"
    text = f"Seen: {many}, {observed.cpu_seconds:.2f} s of CPU time"
    if observed.cpu_seconds >= 0.9 * observed.wall_seconds:
        text += "."
    else:
        text += f" within {observed.wall_seconds:.2f} s"
        wall = found.wall_gain
        is_one_thread = observed.threads <= observed.processes == observed.runs
        is_told = is_one_thread and found.is_told and wall is not None and wall.side != 0
        text += f"; it waited for the rest, and is {by(wall, ' by the clock')}." if is_told else "."
    if found.possible is not None:
        text += f" Copies take at most {at_most(found.possible.share)} % of it."
    if found.is_negligible:
        text += " No way of copying can be felt then."
    elif found.is_told and found.not_judged > MATTERS:
        text += f" Not judged: {found.not_judged_words.rstrip(',')}."
    return text


def kernel_line(observed: Observed) -> str:
    """Empty if the kernel's account is not known, as for programs in operation."""
    used = observed.used
    if not used.is_known:
        return ""
    return f"{kernel_words(used.kernel_share, used.faults, observed.copied)}."


def faster(saved: Estimate) -> Estimate:
    """How much faster the program is if this share of its CPU time is saved."""
    return saved.each(lambda part: 1 / (1 - min(part, 0.99)) - 1)


def table(found: Found, names: Names) -> str:
    """Lists the places, those that bring most first. `names`: the calling functions."""
    shown = found.shown[:MOST_PLACES]
    lines = []
    if shown:
        start = f"{'faster by':>15}  {'size':>9}  {'calls':>7}"
        lines.append(f"{start}  {'where':{_WIDTH}}  libc's time over that of each way")
    for one in shown:
        own, *rest = _ways(one)
        start = f"{_brings(one):>15}  {_size(one.place):>9}  {count_text(one.calls):>7}"
        lines.append(f"{start}  {place_name(one.place, names):{_WIDTH}}  {own}")
        lines += [" " * (len(start) + _WIDTH + 4) + line for line in rest]
        lines += [f"{'':17}{note}" for note in _notes(one)]
    return "\n".join(lines)


def before_table(found: Found, of_map: Found | None, observed: Observed) -> list[str]:
    """The findings, in sentences. `of_map`: the findings with the map of places."""
    lines = [sentence_of_map(of_map) if of_map else "", sentence(found)]
    return [*filter(None, [*lines, clock_line(found, observed), kernel_line(observed)])]


def after_table(found: Found, names: Names) -> list[str]:
    """Sentences about places and sums that the table lacks."""
    more = len(found.shown) - MOST_PLACES
    lines = [f"And {more} more places, which bring less."] if more > 0 else []
    # the places that take most come first
    places = sorted(found.unjudged_places, key=lambda one: one.taken, reverse=True)
    lines += [_not_shown(one, names) for one in places[:_MOST_NOT_SHOWN]]
    if len(places) > _MOST_NOT_SHOWN:
        lines.append(f"And {len(places) - _MOST_NOT_SHOWN} more, which take less.")
    return lines + _sum(found)


def doubts(observed: Observed, command: Sequence[str], is_endless: bool) -> list[str]:
    """`is_endless`: the command did not end by itself."""
    notes = [LIMITS[name] for name in sorted(observed.limits)]
    if observed.are_pages_the_cost:  # then copies go into fresh memory
        also = " (a server needs a --client there)" if is_endless else ""
        notes.append(f"much of the cost is fresh memory: {_of_faults(command)}{also}")
    return [f"Note: {note}." for note in notes]


def _size(place: Place) -> str:
    return f"{human_size(place.least).replace(' ', '')}.." if place.is_own else "small"


def _not_shown(one: PlaceFound, names: Names) -> str:
    size, why = "", "such copies are judged only all together"
    if one.place.is_own:
        size = f"{_size(one.place)} "
        why = f"each way came {one.cycles} times, and {FEW} are needed"
    where = f"{size}{place_name(one.place, names)}, {count_text(one.calls)} calls"
    most = "" if one.takes is None else f", at most {at_most(one.takes)} % of the CPU time"
    return f"Not judged by itself: {where}{most}: {why}."


def _sum(found: Found) -> list[str]:
    """Says why the rows do not add up to the program's gain, if they do not."""
    own = [one.brings for one in found.shown if one.brings is not None]
    if not own or not found.is_told or found.gain is None:
        return []
    value = sum(one.value for one in own)
    error = math.hypot(*(one.high - one.low for one in own)) / 2
    all_of_them = faster(Estimate(value, value - error, value + error))
    if all_of_them.low <= found.gain.high and found.gain.low <= all_of_them.high:
        return []
    return [
        f"Together these are {by(all_of_them)}. The program's line, of all copies at once, is "
        "right: a place's time ends at its next call, and leaves out its cost to others."
    ]


def _brings(one: PlaceFound) -> str:
    if one.brings is None:
        return "-"
    gained = faster(one.brings)
    return f"{100 * gained.value:.1f} +- {100 * (gained.high - gained.low) / 2:.1f} %"


def _ways(one: PlaceFound) -> list[str]:
    lines = []
    for name, of in sorted(one.ratios.items(), key=lambda way: way[0] != ROUTINE):  # it is first
        if name != LIBC_AGAIN or of.low > 1 or of.high < 1:
            best = "  best" if name == one.best and name != ROUTINE else ""
            left = "  left early" if name in one.left_early else ""
            lines.append(f"{name:10} {of.value:.3f} ({of.low:.3f}..{of.high:.3f}){best}{left}")
    if one.best == LIBC:
        lines.append(f"{LIBC:10} 1.000  best")
    return lines or ["-"]


def _notes(one: PlaceFound) -> list[str]:
    notes = []
    if one.best == FRESH:
        times = f"{one.ratios[FRESH].value:.1f} times as fast"
        notes.append(f"this place copies into fresh memory: it is {times} with its pages prepared")
    if not one.steady:
        notes.append("libc differs from itself here: the gain of this place is not sure")
    if not one.possible:
        notes.append("a larger gain or loss was seen here than its calls can make: it is not sure")
    if not one.trimmed:
        notes.append("some way has more than its share of the longest intervals: they count here")
    if one.drifts:
        ways = ", ".join(one.drifts)
        notes.append(f"the effect of {ways} here depends on the number of calls in a row")
    what = "from a call to the next one, under the routine"
    return notes + modes_told(what, one.means, lambda s: f"{1e6 * s:.4g} us")


def place_name(place: Place, names: Names) -> str:
    if not place.is_own:
        return place.function
    of = f" ({place.function})"
    caller = names.get(place, "")
    return place_text(place.file_name or place.module, caller, place.offset, _WIDTH - len(of)) + of


def other_ways(wanted: Iterable[tuple[PlaceFound, str]]) -> list[str]:
    """Says that a map of places would bring something."""
    count = sum(bool(build_id) for _, build_id in wanted)
    if not count:
        return []
    want = counted(count, "place wants", "places want")
    return [f"Note: {want} another way than the routine: --write PLACES to have it taken there."]


def _of_faults(command: Sequence[str]) -> str:
    return (
        f"{to_try_tunables(one_line(shlex.join(command)))} finds the settings that save page faults"
    )


def what_to_do(
    found: Found,
    observed: Observed,
    command: Sequence[str],
    preload: Path,
    mapped: Path | None,
    is_over: bool,
    unseen: str | None,
) -> str:
    """The last line. `mapped`: the map that was written, if it has places. `is_over`: more time
    would have shown more. `unseen`: the advice, if the program has copies that were not seen."""
    gain = found.deciding
    if mapped is not None:
        build, library = to_map(mapped, preload)
        return f"To give each place its way: {build}, then {preload_line(library, command)}"
    if gain is None or not found.is_told:
        return f"Not known: {_hint(found, observed, command, is_over)}."
    if gain.low > 0 and gain.value >= SAME / 2:
        return f"To have it: {preload_line(preload, command)}"
    if gain.side < 0:
        return "Leave it: the routine makes this program slower."
    if unseen is not None:
        return f"Not known: {unseen}."
    if observed.are_pages_the_cost:
        return f"The routine alone brings nothing here: {_of_faults(command)}."
    return "Leave it: nothing to gain here."


def _hint(found: Found, observed: Observed, command: Sequence[str], is_over: bool) -> str:
    gain = found.deciding
    runs = "--runs --metric cpu compares whole runs"
    if observed.are_pages_the_cost:
        runs = _of_faults(command)
    if CLOSED in observed.limits:
        return TO_OPEN
    if UNSEEN in observed.limits:
        return "prove by itself the program that takes the CPU time"
    if found.restricted > MOST_UNJUDGED or found.untimed:
        return "prove it with its sandbox off"
    if not found.is_possible or found.unjudged > MOST_UNJUDGED:
        return runs
    if observed.is_idle:
        return GIVE_LOAD
    if found.short > MOST_UNJUDGED:
        return f"{MORE_TIME}, or {runs}" if is_over else runs
    if found.has_too_few_calls:
        return f"a process makes too few calls for a trial, and each takes long: {runs}"
    if gain is None and is_over:
        return MORE_TIME
    if gain is None:
        return "too few copies were seen; a longer run may have more"
    return f"{MORE_TIME}, or a longer run; {runs}"
