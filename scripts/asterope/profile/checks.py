"""What the schema cannot say: that intervals join, that copies exist, that claims agree."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jsonschema.exceptions import best_match

from .. import spaces
from ..spaces import ARCHITECTURES, probes, threads
from ..spaces.operations import Operation
from .faults import REMEDY, Fault, Place, shown
from .schema import fault_of, profile_validator
from .text import PROFILE, refuse_other_formats, refuse_unsound


def check(raw: Any) -> None:
    refuse_unsound(raw)
    refuse_other_formats(raw, PROFILE)
    here = spaces.of(_architecture_of(raw))
    # A limit, because a hostile file can hold a fault in each of its 200,000 values.
    errors = itertools.islice(profile_validator(raw["architecture"]).iter_errors(raw), 100)
    error = best_match(errors)
    if error is not None:
        raise fault_of(error)
    _refuse_loose_intervals(raw["intervals"], ("intervals",))
    for name, intent in raw.get("intents", {}).items():
        _refuse_loose_intervals(intent["intervals"], ("intents", name, "intervals"))
    if "memset" in raw:
        _refuse_loose_intervals(raw["memset"]["intervals"], ("memset", "intervals"))
    _refuse_false_sensing(raw)
    _refuse_false_shares(shares_of(raw))
    _refuse_false_ties(raw, here)
    _refuse_false_left_out(raw, raw["complete"])
    _refuse_false_left_out(raw.get("memset", {}), raw["complete"], ("memset",))
    for part in ("search", "memset"):
        weights = raw.get(part, {}).get("weights")
        if weights is not None and not any(weights.values()):
            raise Fault(f"no workload has a weight: {REMEDY}", (part, "weights"))
    aliased = raw.get("aliased", {}).get("winner")
    if aliased is not None and aliased["above"] >= aliased["up_to"]:
        raise Fault(f"above must be less than up_to: {REMEDY}", ("aliased", "winner"))
    for place, why_not, fields in _tuples_of(raw, here):
        reason = why_not(**fields)
        if reason is not None:
            what = "set" if place[0] == "memset" else "copy"
            raise Fault(f"no such {what}: {reason}: {REMEDY}", place)


def _architecture_of(raw: Mapping[str, Any]) -> str:
    """Whose copies the profile speaks of: all else that it may hold depends on that."""
    place = ("architecture",)
    if "architecture" not in raw:
        raise Fault(f"missing: {REMEDY}", place)
    if raw["architecture"] not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise Fault(f"{shown(raw['architecture'])} is none of {known}: {REMEDY}", place)
    return raw["architecture"]


def _refuse_loose_intervals(
    intervals: Sequence[Mapping[str, Any]], place: Place, previous: int = 0
) -> None:
    """Refuses intervals that are not (0, a], (a, b], (b, c], ... with 0 < a < b < c.

    They begin at `previous`, where that is not 0.
    """
    for i, interval in enumerate(intervals):
        above, up_to = interval["above"], interval["up_to"]
        if above != previous:
            fault = "leaves a gap" if above > previous else "overlaps or is out of order"
            raise Fault(f"{above} {fault}: expected {previous}: {REMEDY}", (*place, i, "above"))
        if up_to <= above:
            raise Fault(
                f"{up_to} is not beyond the interval's lower end {above}: {REMEDY}",
                (*place, i, "up_to"),
            )
        size = interval.get("size", up_to)
        if not above < size <= up_to:
            raise Fault(
                f"{size} is not above {above} and up to {up_to}: {REMEDY}", (*place, i, "size")
            )
        previous = up_to


def _refuse_false_sensing(raw: Mapping[str, Any]) -> None:
    """Refuses sensing copies where they cannot be, and those that have no such pipelines."""
    for place, interval in intervals_of(raw):
        if "sensing" not in interval:
            continue
        place = (*place, "sensing")
        if place[0] == "intents":
            raise Fault(f"who states an intent needs no sensing: {REMEDY}", place)
        least = probes.MINIMUM_BYTES
        if interval["above"] < least - 1:
            raise Fault(
                f"it takes {least} bytes or more, but the interval begins below: {REMEDY}", place
            )
        sensing = interval["sensing"]
        reason = probes.why_not_sensing(sensing["kind"], "fetch" in sensing)
        if reason is not None:
            raise Fault(f"no such sensing copy: {reason}: {REMEDY}", place)


def _refuse_false_shares(shares: Sequence[Mapping[str, Any]]) -> None:
    """Refuses shares that do not follow one another, and chunks that are too small."""
    place = ("threads", "intervals")
    if not shares:
        return
    _refuse_loose_intervals(shares, place, shares[0]["above"])
    for i, share in enumerate(shares):
        if 0 < share["chunk"] < threads.LEAST_CHUNK:
            fault = f"{share['chunk']} is neither 0 nor {threads.LEAST_CHUNK} and more"
            raise Fault(f"{fault}: {REMEDY}", (*place, i, "chunk"))


def _refuse_false_ties(raw: Mapping[str, Any], here: Any) -> None:
    """Refuses winners that tie with themselves."""
    races = [(place, race, _operation_of(place, here).tuple) for place, race in intervals_of(raw)]
    races += [(place, race, _operation_of(place, here).small) for place, race in _smalls_of(raw)]
    for place, race, make in races:
        ties = race.get("proof", {}).get("ties", ())
        winner = make(**race["winner"]["tuple"]).name
        if winner in ties:
            place = (*place, "proof", "ties", ties.index(winner))
            raise Fault(f"the winner does not tie with itself: {REMEDY}", place)


def _refuse_false_left_out(raw: Mapping[str, Any], complete: bool, above: Place = ()) -> None:
    """Refuses a profile that left something out and is complete or has it, or left out nothing.

    `raw`: the profile, or what it says of an operation, at the place `above`.
    """
    if "left_out" not in raw:
        return
    left_out = raw["left_out"]
    sizes, steps = left_out.get("sizes", []), left_out.get("steps", [])
    if complete:
        raise Fault(f"nothing is left out where complete is true: {REMEDY}", (*above, "left_out"))
    if not sizes and not steps:
        raise Fault(f"names neither sizes nor steps: {REMEDY}", (*above, "left_out"))
    measured = {interval.get("size", interval["up_to"]) for interval in raw["intervals"]}
    for i, size in enumerate(sizes):
        if size in measured:
            raise Fault(f"{size} has a winner: {REMEDY}", (*above, "left_out", "sizes", i))
    for step, race in (("small copies", "small"), ("overlapping buffers", "overlapping")):
        if step in steps and race in raw:
            place = (*above, "left_out", "steps", steps.index(step))
            raise Fault(f"{step} have a winner: {REMEDY}", place)


def shares_of(raw: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """How each interval of sizes is shared among threads."""
    return raw.get("threads", {}).get("intervals", ())


def intervals_of(raw: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Every interval of the profile, of its intents and of memset, too, with its place."""
    for i, interval in enumerate(raw["intervals"]):
        yield ("intervals", i), interval
    for name, intent in raw.get("intents", {}).items():
        for i, interval in enumerate(intent["intervals"]):
            yield ("intents", name, "intervals", i), interval
    for i, interval in enumerate(raw.get("memset", {}).get("intervals", ())):
        yield ("memset", "intervals", i), interval


def _smalls_of(raw: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """The races of small copies and small sets, with their places."""
    for above, part in (((), raw), (("memset",), raw.get("memset", {}))):
        if "small" in part:
            yield (*above, "small"), part["small"]


def _operation_of(place: Place, here: Any) -> Operation:
    return here.MEMSET if place[0] == "memset" else here.MEMCPY


def _tuples_of(
    raw: Mapping[str, Any], here: Any
) -> Iterator[tuple[Place, Callable[..., str | None], Mapping[str, Any]]]:
    """Every tuple of the profile, with its place, and what tells why it does not exist."""
    races = [(*race, _operation_of(race[0], here).why_not) for race in intervals_of(raw)]
    races += [(*race, _operation_of(race[0], here).why_not_small) for race in _smalls_of(raw)]
    if "overlapping" in raw:
        races.append(
            (("overlapping",), raw["overlapping"], here.overlapping_copies.why_not_overlapping)
        )
    if aliased := raw.get("aliased", {}).get("winner"):
        why_not = here.overlapping_copies.why_not_overlapping
        yield ("aliased", "winner", "tuple"), why_not, aliased["tuple"]
    for place, race, why_not in races:
        yield (*place, "winner", "tuple"), why_not, race["winner"]["tuple"]
        for k, entry in enumerate(race.get("runners_up", ())):
            yield (*place, "runners_up", k, "tuple"), why_not, entry["tuple"]
        for way in ("hot", "cold", "fetch"):
            if way in race.get("sensing", {}):
                yield (*place, "sensing", way), why_not, race["sensing"][way]
