"""Checks that the schema cannot make: that choices join, that copies exist, that claims agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import spaces
from ..spaces import ARCHITECTURES, fresh, probes, threads
from ..spaces.kinds import BY_INTENT, KINDS, MEMCPY, kinds_of
from .faults import REMEDY, Fault, Place, shown
from .schema import profile_validator, refuse_what_breaks

# By name: of every operation that has it, a kind is chosen alike.
_KINDS = {one.name: one for one in KINDS}


def check(raw: Any) -> None:
    kinds = kinds_of(spaces.of(_architecture_of(raw)))
    refuse_what_breaks(profile_validator(raw["architecture"]), raw)
    _refuse_loose_choices(raw["choices"])
    for i, choice in enumerate(raw["choices"]):
        _refuse_false_choice(choice, kinds, ("choices", i))
    for operation, left_out in raw.get("left_out", {}).items():
        _refuse_false_left_out(raw, left_out, operation)
    for operation, weights in raw.get("search", {}).get("weights", {}).items():
        if not any(weights.values()):
            raise Fault(f"no workload has a weight: {REMEDY}", ("search", "weights", operation))


def _architecture_of(raw: Mapping[str, Any]) -> str:
    """The architecture of the profile's copies: all else that it may hold depends on that."""
    place = ("architecture",)
    if "architecture" not in raw:
        raise Fault(f"missing: {REMEDY}", place)
    if raw["architecture"] not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise Fault(f"{shown(raw['architecture'])} is none of {known}: {REMEDY}", place)
    return raw["architecture"]


def _refuse_loose_choices(choices: Sequence[Mapping[str, Any]]) -> None:
    """Refuses choices of one operation, kind and intent that do not join, and a profile without
    pipelines of memcpy. Choices join as (0, a], (a, b], (b, c], ... with 0 < a < b < c do."""
    ends: dict[tuple[str | None, ...], int] = {}
    for i, choice in enumerate(choices):
        columns = (choice["operation"], choice["kind"], choice.get("intent"))
        above, up_to = choice["above"], choice["up_to"]
        kind = _KINDS[choice["kind"]]
        if columns in ends and kind.alone:
            what = f"a second choice of {choice['operation']}'s {choice['kind']}"
            raise Fault(f"{what}: {REMEDY}", ("choices", i))
        if columns not in ends and kind.begins:
            expected = max(above, kind.begins - 1)
        else:
            expected = ends.get(columns, 0)
        if above != expected:
            fault = "leaves a gap" if above > expected else "overlaps or is out of order"
            raise Fault(f"{above} {fault}: expected {expected}: {REMEDY}", ("choices", i, "above"))
        if up_to <= above:
            raise Fault(
                f"{up_to} is not beyond the choice's lower end {above}: {REMEDY}",
                ("choices", i, "up_to"),
            )
        size = choice.get("size", up_to)
        if not above < size <= up_to:
            raise Fault(
                f"{size} is not above {above} and up to {up_to}: {REMEDY}", ("choices", i, "size")
            )
        ends[columns] = up_to
    if (MEMCPY, "pipelines", None) not in ends:
        raise Fault(f"no pipelines of {MEMCPY}: {REMEDY}", ("choices",))
    for operation, _, intent in ends:
        for one in (None, intent):
            if (operation, "pipelines", one) not in ends:
                function = operation + (f"_{one}" if one else "")
                raise Fault(f"no pipelines of {function}: {REMEDY}", ("choices",))


def _refuse_false_choice(
    choice: Mapping[str, Any], kinds: Mapping[tuple[str, str], Any], place: Place
) -> None:
    """Refuses a kind that the operation does not have, copies that do not exist, and a winner that
    ties with itself."""
    copies, evidence = choice["copies"], choice.get("evidence", {})
    if "intent" in choice and (choice["operation"], choice["kind"]) not in BY_INTENT:
        what = f"only {MEMCPY}'s pipelines and small copies are chosen by intent"
        raise Fault(f"{what}: {REMEDY}", (*place, "intent"))
    _refuse_false_roles(choice, (*place, "copies"))
    if choice["kind"] == "threads":
        _refuse_false_share(choice, place)
        return
    if choice["kind"] == "fresh":
        reason = fresh.why_not(**copies["taken"])
        if reason is not None:
            raise Fault(f"no such page stage: {reason}: {REMEDY}", (*place, "copies", "taken"))
        return
    kind = kinds.get((choice["operation"], choice["kind"]))
    if kind is None:
        what = f"{choice['operation']} has no choice of kind {choice['kind']}"
        raise Fault(f"{what}: {REMEDY}", (*place, "kind"))
    for where, fields in _tuples_of(choice):
        reason = kind.why_not(**fields)
        if reason is not None:
            what = "copy" if kind.Tuple.loads else "set"
            raise Fault(f"no such {what}: {reason}: {REMEDY}", (*place, *where))
    winner = kind.Tuple(**copies["plain" if "probe" in copies else "taken"])
    if choice["kind"] == "small" and choice["up_to"] != winner.bound:
        fault = f"{choice['up_to']} is not the bound of the copy, {winner.bound}"
        raise Fault(f"{fault}: {REMEDY}", (*place, "up_to"))
    ties = evidence.get("proof", {}).get("ties", ())
    if winner.name in ties:
        raise Fault(
            f"the winner does not tie with itself: {REMEDY}",
            (*place, "evidence", "proof", "ties", ties.index(winner.name)),
        )


def _refuse_false_roles(choice: Mapping[str, Any], place: Place) -> None:
    """Refuses copies that are neither one nor those of a copy that senses, where one can be."""
    copies = choice["copies"]
    if "probe" not in copies:
        if set(copies) != {"taken"}:
            raise Fault(f"neither the copy taken alone nor those of a probe: {REMEDY}", place)
        return
    if missing := next((way for way in probes.ROLES if way not in copies), None):
        raise Fault(f"missing: {REMEDY}", (*place, missing))
    if "taken" in copies:
        raise Fault(f"what senses takes none of its copies always: {REMEDY}", (*place, "taken"))
    if "intent" in choice:
        raise Fault(f"who states an intent needs no sensing: {REMEDY}", place)
    least = probes.MINIMUM_BYTES
    if choice["above"] < least - 1:
        fault = f"it takes {least} bytes or more to sense, but the choice begins below"
        raise Fault(f"{fault}: {REMEDY}", place)
    reason = probes.why_not_sensing(copies["probe"]["kind"], copies)
    if reason is not None:
        raise Fault(f"no such sensing copy: {reason}: {REMEDY}", place)


def _refuse_false_share(choice: Mapping[str, Any], place: Place) -> None:
    if choice["operation"] != MEMCPY:
        raise Fault(f"only copies are shared among threads: {REMEDY}", (*place, "kind"))
    chunk = choice["copies"]["taken"]["chunk"]
    if 0 < chunk < threads.LEAST_CHUNK:
        fault = f"{chunk} is neither 0 nor {threads.LEAST_CHUNK} and more"
        raise Fault(f"{fault}: {REMEDY}", (*place, "copies", "taken", "chunk"))


def _refuse_false_left_out(
    raw: Mapping[str, Any], left_out: Mapping[str, Any], operation: str
) -> None:
    """Refuses a profile that left something out and is complete or has it, or left out nothing."""
    place = ("left_out", operation)
    sizes, steps = left_out.get("sizes", []), left_out.get("steps", [])
    if raw["complete"]:
        raise Fault(f"nothing is left out where complete is true: {REMEDY}", place)
    if not sizes and not steps:
        raise Fault(f"names neither sizes nor steps: {REMEDY}", place)
    own = [one for one in raw["choices"] if one["operation"] == operation]
    measured = {
        one.get("size", one["up_to"])
        for one in own
        if one["kind"] == "pipelines" and "intent" not in one
    }
    for i, size in enumerate(sizes):
        if size in measured:
            raise Fault(f"{size} has a winner: {REMEDY}", (*place, "sizes", i))
    for kind in KINDS:
        if kind.step in steps and any(one["kind"] == kind.name for one in own):
            where = (*place, "steps", steps.index(kind.step))
            raise Fault(f"{kind.step} have a winner: {REMEDY}", where)


def _tuples_of(choice: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """The tuples of a choice, with their places in it."""
    for role in ("taken", "plain", *probes.WAYS):
        if role in choice["copies"]:
            yield ("copies", role), choice["copies"][role]
    for i, one in enumerate(choice.get("evidence", {}).get("runners_up", ())):
        yield ("evidence", "runners_up", i, "tuple"), one["tuple"]
