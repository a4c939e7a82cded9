"""What a trial found, in words: one sentence, the places, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...figures import count_text, place_text
from ...modes import modes_told
from ...place_map import counted
from ...preload_link import preload_line
from ...render import human_size
from ..programs import to_map
from .blocks import LIBC, LIBC_AGAIN, ROUTINE, UNSEEN, Observed, Place
from .findings import FEW, MATTERS, Found, PlaceFound
from .statistics import Estimate

_SAME = 0.01  # less than that is no difference that anybody notices
_WITH = "With the routine this program"
_MOST_PLACES = 12
_WIDTH = 40  # of what says where


def sentence(found: Found) -> str:
    gain, count = found.gain, len(found.slower)
    where = f"it is slower than libc at {count} place{'s' if count > 1 else ''}"
    if gain is None:
        return "How fast this program is with the routine cannot be told: too few copies were seen."
    if gain.low > 0 or gain.high < 0:
        start = f"{_WITH} runs {by(gain)}"
    elif _reach(gain) <= _SAME:
        start = f"{_WITH} is as fast as with libc, within {_percents(_reach(gain))} %"
    else:
        start = f"Whether the routine makes this program faster cannot be told yet: {by(gain)}"
    return f"{start}; {where if count else 'no place is slower'}."


def sentence_of_map(found: Found) -> str:
    """Of the library as a whole."""
    gain, beside = found.whole_gain, found.map_gain
    if gain is None or beside is None:
        return "How fast this program is with its map cannot be told: too few copies were seen."
    text = f"With the routine and its map of places it runs {by(gain)} than with libc"
    if beside.high < 0:
        return f"{text}: {by(beside)} than with the routine alone, so the map is not taken."
    known = by(beside) if beside.low > 0 else f"within {_percents(_reach(beside))} % as fast"
    return f"{text}, and {known} {'than' if beside.low > 0 else 'as'} with the routine alone."


def by(gain: Estimate, how: str = "") -> str:
    word = "faster"
    if gain.value < 0:
        word, gain = "slower", Estimate(-gain.value, -gain.high, -gain.low)
    return f"{_percents(gain.value)} % {word}{how} ({_interval(gain)})"


def _reach(gain: Estimate) -> float:
    return max(abs(gain.low), abs(gain.high))


def _interval(gain: Estimate) -> str:
    return f"{_percents(gain.low)} to {_percents(gain.high)}"


def _percents(part: float) -> str:
    return f"{100 * part:.1f}"


def clock_line(found: Found, observed: Observed) -> str:
    """Of the CPU time; and by the clock, where the program did not run all the time."""
    text = f"By CPU time: {observed.cpu_seconds:.2f} s in {observed.wall_seconds:.2f} s"
    if found.wall_gain is not None and observed.cpu_seconds < 0.9 * observed.wall_seconds:
        text += f"; where it waited for the rest, that is {by(found.wall_gain, ' by the clock')}"
    runs = f"{observed.runs} run{'s' if observed.runs > 1 else ''}"
    many = f"{observed.processes} process{'es' if observed.processes > 1 else ''}"
    if found.unjudged > MATTERS:
        many += f". Not judged: calls longer than periods, {100 * found.unjudged:.0f} % of it"
    return f"{text}. {runs}, {many}."


def table(found: Found, names: Mapping[Place, str]) -> str:
    """Places by what they bring. `names`: of the functions that called."""
    # a place of few calls is known to nothing, and brings nothing
    worth = [
        one
        for one in found.places
        if one.ratios
        and ((one.steady and one.surely != 0) or (one.share >= MATTERS and one.cycles >= FEW))
    ]
    shown = worth[:_MOST_PLACES]
    if not shown:
        return ""
    start = f"{'brings':>15}  {'size':>9}  {'calls':>7}"
    head = f"{start}  {'where':{_WIDTH}}  libc's time over that of each way"
    lines = [head]
    for one in shown:
        own, *rest = _ways(one)
        least = one.place.least
        size = f"{human_size(least).replace(' ', '')}.." if one.place.is_own else "small"
        start = f"{_brings(one):>15}  {size:>9}  {count_text(one.calls):>7}"
        lines.append(f"{start}  {place_name(one.place, names):{_WIDTH}}  {own}")
        lines += [" " * (40 + _WIDTH - 1) + line for line in rest]
        lines += [f"{'':17}{note}" for note in _notes(one)]
    if len(worth) > len(shown):
        lines.append(f"and {len(worth) - len(shown)} more places, which bring less")
    return "\n".join(lines)


def _brings(one: PlaceFound) -> str:
    if one.gained is None:
        return "-"
    reach = (one.gained.high - one.gained.low) / 2
    return f"{100 * one.gained.value:.1f} +- {100 * reach:.1f} %"


def _ways(one: PlaceFound) -> list[str]:
    known = {**{ROUTINE: one.ratios.get(ROUTINE)}, **one.ratios}
    libc = [f"{LIBC:10} 1.000  best"] if one.best == LIBC else []
    ways = [
        f"{name:10} {estimate.value:.3f} ({estimate.low:.3f}..{estimate.high:.3f})"
        + ("  best" if name == one.best and name != ROUTINE else "")
        + ("  left early" if name in one.left_early else "")
        for name, estimate in known.items()
        if estimate is not None and (name != LIBC_AGAIN or estimate.low > 1 or estimate.high < 1)
    ]
    return ways + libc or ["-"]


def _notes(one: PlaceFound) -> list[str]:
    notes = []
    if not one.steady:
        notes.append("libc differs from itself here: what this place brings is not sure")
    if not one.trimmed:
        notes.append("some way has more of the longest intervals than its share: they count here")
    if one.drifts:
        notes.append(
            f"what {', '.join(one.drifts)} does here depends on how many calls in a row take it"
        )
    return notes + modes_told(
        "from a call to the next one, under the routine", one.means, lambda s: f"{1e6 * s:.4g} us"
    )


def place_name(place: Place, names: Mapping[Place, str]) -> str:
    if not place.is_own:
        return place.function
    of = f" ({place.function})"
    caller = names.get(place, "")
    return place_text(place.module, caller, place.offset, _WIDTH - len(of)) + of


def other_ways(wanted: Iterable[tuple[PlaceFound, str]]) -> list[str]:
    """That a map of places would bring something."""
    count = sum(bool(build_id) and one.share >= MATTERS for one, build_id in wanted)
    if not count:
        return []
    places = f"{counted(count)} want{'s' if count == 1 else ''}"
    return [f"Note: {places} another way than the routine: --write PLACES to have it taken there."]


def what_to_do(
    found: Found,
    observed: Observed,
    command: Sequence[str],
    preload: Path,
    mapped: Path | None,
) -> str:
    """The last line. `mapped`: the map that was written, where it has places."""
    gain = found.whole_gain if found.has_whole else found.gain
    if mapped is not None:
        build, library = to_map(mapped, preload)
        return f"To give each place its way: {build}, then {preload_line(library, command)}"
    line = preload_line(preload, command)
    if gain is not None and gain.low > 0 and gain.value >= _SAME / 2:
        return f"To have it: {line}"
    if gain is not None and gain.high < 0:
        return "Leave it: the routine makes this program slower."
    if UNSEEN in observed.limits:
        return "Not known: prove what takes the CPU time by itself."
    if gain is None:
        return "Not known: too few copies were seen; a longer run may have more."
    if _reach(gain) <= 2 * _SAME:
        return "Leave it: nothing to gain here."
    return "Not known yet: give it more --time, or a longer run."
