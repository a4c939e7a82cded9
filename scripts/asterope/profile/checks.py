"""Checks that the schema cannot make: that choices join, that copies exist, that claims agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .. import spaces
from ..spaces import fresh, probes, threads
from ..spaces.kinds import BY_INTENT, KINDS, MEMCPY, kinds_of
from .faults import REMEDY, Fault, Place
from .schema import architecture_of, profile_validator, refuse_what_breaks

# By name: of every operation that has it, a kind is chosen alike.
_KINDS = {one.name: one for one in KINDS}


def _refuse(what: str, *place: str | int) -> NoReturn:
    raise Fault(f"{what}: {REMEDY}", place)


def check(raw: Any) -> None:
    kinds = kinds_of(spaces.of(architecture_of(raw)))
    refuse_what_breaks(profile_validator(raw["architecture"]), raw)
    _refuse_loose_choices(raw["choices"])
    for i, choice in enumerate(raw["choices"]):
        _refuse_false_choice(choice, kinds, ("choices", i))
    for operation, left_out in raw.get("left_out", {}).items():
        _refuse_false_left_out(raw, left_out, operation)
    for operation, weights in raw.get("search", {}).get("weights", {}).items():
        if not any(weights.values()):
            _refuse("no workload has a weight", "search", "weights", operation)


def _refuse_loose_choices(choices: Sequence[Mapping[str, Any]]) -> None:
    """Refuses choices of one operation, kind and intent that do not join, and a profile without
    pipelines of memcpy. Choices join as (0, a], (a, b], (b, c], ... with 0 < a < b < c do."""
    ends: dict[tuple[str | None, ...], int] = {}
    for i, choice in enumerate(choices):
        columns = (choice["operation"], choice["kind"], choice.get("intent"))
        above, up_to = choice["above"], choice["up_to"]
        kind = _KINDS[choice["kind"]]
        if columns in ends and kind.alone:
            _refuse(f"a second choice of {columns[0]}'s {columns[1]}", "choices", i)
        if columns not in ends and kind.begins:
            expected = max(above, kind.begins - 1)
        else:
            expected = ends.get(columns, 0)
        if above != expected:
            fault = "leaves a gap" if above > expected else "overlaps or is out of order"
            _refuse(f"{above} {fault}: expected {expected}", "choices", i, "above")
        if up_to <= above:
            what = f"{up_to} is not beyond the choice's lower end {above}"
            _refuse(what, "choices", i, "up_to")
        size = choice.get("size", up_to)
        if not above < size <= up_to:
            _refuse(f"{size} is not above {above} and up to {up_to}", "choices", i, "size")
        ends[columns] = up_to
    if (MEMCPY, "pipelines", None) not in ends:
        _refuse(f"no pipelines of {MEMCPY}", "choices")
    for operation, _, intent in ends:
        for one in (None, intent):
            if (operation, "pipelines", one) not in ends:
                function = operation + (f"_{one}" if one else "")
                _refuse(f"no pipelines of {function}", "choices")


def _refuse_false_choice(
    choice: Mapping[str, Any], kinds: Mapping[tuple[str, str], Any], place: Place
) -> None:
    """Refuses a kind that the operation does not have, copies that do not exist, and a winner that
    ties with itself."""
    operation, name, copies = choice["operation"], choice["kind"], choice["copies"]
    if "intent" in choice and (operation, name) not in BY_INTENT:
        what = f"only {MEMCPY}'s pipelines and small copies are chosen by intent"
        _refuse(what, *place, "intent")
    _refuse_false_roles(choice, (*place, "copies"))
    if name == "threads":
        if operation != MEMCPY:
            _refuse("only copies are shared among threads", *place, "kind")
        if 0 < (chunk := copies["taken"]["chunk"]) < threads.LEAST_CHUNK:
            what = f"{chunk} is neither 0 nor {threads.LEAST_CHUNK} and more"
            _refuse(what, *place, "copies", "taken", "chunk")
        return
    if name == "fresh":
        if reason := fresh.why_not(**copies["taken"]):
            _refuse(f"no such page stage: {reason}", *place, "copies", "taken")
        return
    kind = kinds.get((operation, name))
    if kind is None:
        _refuse(f"{operation} has no choice of kind {name}", *place, "kind")
    for where, fields in _tuples_of(choice):
        if reason := kind.why_not(**fields):
            what = "copy" if kind.Tuple.loads else "set"
            _refuse(f"no such {what}: {reason}", *place, *where)
    winner = kind.Tuple(**copies["plain" if "probe" in copies else "taken"])
    if name == "small" and choice["up_to"] != winner.bound:
        what = f"{choice['up_to']} is not the bound of the copy, {winner.bound}"
        _refuse(what, *place, "up_to")
    ties = choice.get("evidence", {}).get("proof", {}).get("ties", ())
    if winner.name in ties:
        where = ("evidence", "proof", "ties", ties.index(winner.name))
        _refuse("the winner does not tie with itself", *place, *where)


def _refuse_false_roles(choice: Mapping[str, Any], place: Place) -> None:
    """Refuses copies that are neither one nor those of a copy that senses, where one can be."""
    copies = choice["copies"]
    if "probe" not in copies:
        if set(copies) != {"taken"}:
            _refuse("neither the copy taken alone nor those of a probe", *place)
        return
    if missing := next((way for way in probes.ROLES if way not in copies), None):
        _refuse("missing", *place, missing)
    if "taken" in copies:
        _refuse("what senses takes none of its copies always", *place, "taken")
    if "intent" in choice:
        _refuse("who states an intent needs no sensing", *place)
    least = probes.MINIMUM_BYTES
    if choice["above"] < least - 1:
        _refuse(f"it takes {least} bytes or more to sense, but the choice begins below", *place)
    if reason := probes.why_not_sensing(copies["probe"]["kind"], copies):
        _refuse(f"no such sensing copy: {reason}", *place)


def _refuse_false_left_out(
    raw: Mapping[str, Any], left_out: Mapping[str, Any], operation: str
) -> None:
    """Refuses a profile that left something out and is complete or has it, or left out nothing."""
    place = ("left_out", operation)
    sizes, steps = left_out.get("sizes", []), left_out.get("steps", [])
    if raw["complete"]:
        _refuse("nothing is left out where complete is true", *place)
    if not sizes and not steps:
        _refuse("names neither sizes nor steps", *place)
    own = [one for one in raw["choices"] if one["operation"] == operation]
    measured = {
        one.get("size", one["up_to"])
        for one in own
        if one["kind"] == "pipelines" and "intent" not in one
    }
    for i, size in enumerate(sizes):
        if size in measured:
            _refuse(f"{size} has a winner", *place, "sizes", i)
    for kind in KINDS:
        if kind.step in steps and any(one["kind"] == kind.name for one in own):
            _refuse(f"{kind.step} have a winner", *place, "steps", steps.index(kind.step))


def _tuples_of(choice: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """The tuples of a choice, with their places in it."""
    for role in ("taken", "plain", *probes.WAYS):
        if role in choice["copies"]:
            yield ("copies", role), choice["copies"][role]
    for i, one in enumerate(choice.get("evidence", {}).get("runners_up", ())):
        yield ("evidence", "runners_up", i, "tuple"), one["tuple"]
