"""Reads the inputs of a report: profile, sample log, bench results, trial, whole runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..faults import BadInput, one_line
from ..profile import Profile, load_profile
from ..profile.faults import Fault, Place
from ..profile.schema import read_checked
from ..profile.text import Kind
from ..provisional import doubt_of, warning, why_provisional
from ..text_file import open_to_read
from . import sample_log

# Longer than any line of a log, and than any bench results.
MAXIMUM_LINE = 64 << 20


@dataclass(frozen=True)
class Inputs:
    """One of each kind at most, and at least one. All of one machine, as far as they name it."""

    profile: Profile | None = None
    log: sample_log.SampleLog | None = None
    bench: Mapping[str, Any] | None = None
    proof: Mapping[str, Any] | None = None
    trial: Mapping[str, Any] | None = None

    @property
    def machine(self) -> Mapping[str, Any]:
        """The architecture, as in profiles; empty if no input names one."""
        for given in (self.bench, self.log, self.profile):
            if given is not None and (machine := _machine_of(given)):
                return machine
        if self.proof is not None:
            return {"libc": self.proof["libc"]}
        return {}

    @property
    def doubts(self) -> list[str]:
        """The results that noise may have decided: a sentence each, without its full stop."""
        found = []
        if self.profile is not None and (doubt := doubt_of(self.profile.raw)):
            found.append(warning(doubt, "these winners are"))
        if self.bench is not None and (doubt := why_provisional(self.bench.get("noise", {}))):
            found.append(warning(doubt, "these figures are"))
        return found


def _machine_of(given: Any) -> Mapping[str, Any]:
    return given["machine"] if isinstance(given, Mapping) else given.machine


def read_inputs(paths: Sequence[str]) -> Inputs:
    """Raises BadInput for a file that cannot be read, is of another kind, or is of another
    machine."""
    kinds: dict[str, Any] = {}
    names: dict[str, str] = {}
    for path in paths:
        kind, content = _read(path)
        if kind in kinds:
            noun = _KINDS[kind].noun if kind in _KINDS else kind
            raise BadInput(
                f"{one_line(path)}: a second {noun} beside {one_line(names[kind])}: "
                "name one of each kind"
            )
        kinds[kind], names[kind] = content, path
    _refuse_other_machines(kinds, names)
    return Inputs(**kinds)


def _kind(noun: str, program: str, format: str, version: int) -> Kind:
    return Kind(noun, program, format, version, remedy=f"run {program} again")


_KINDS = {
    "bench": _kind("file of bench results", "asterope-bench --json", "asterope-bench", 2),
    "proof": _kind("file of asterope-prove --runs", "asterope-prove --json", "asterope-prove", 3),
    "trial": _kind("trial of asterope-prove", "asterope-prove --json", "asterope-trial", 2),
}


def _read(path: str) -> tuple[str, Any]:
    where = one_line(path)
    try:
        with open_to_read(path) as file:
            first = file.readline(MAXIMUM_LINE)
            if first.startswith(b"\x1f\x8b"):
                raise BadInput(f"{where}: is gzipped: unpack it first (gunzip)")
            header = _json(first)
            if isinstance(header, dict) and header.get("format") == sample_log.FORMAT:
                if not first.endswith(b"\n"):
                    raise BadInput(f"{where}: holds no whole first line: record anew")
                lines = iter(partial(file.readline, MAXIMUM_LINE), b"")
                return "log", sample_log.read_sample_log(header, lines, where)
            content = first + file.read(MAXIMUM_LINE)
    except OSError as error:
        raise BadInput(f"{where}: cannot read it: {error.strerror}") from None
    whole = _json(content)
    given = whole.get("format") if isinstance(whole, dict) else None
    for name, kind in _KINDS.items():
        if given == kind.format:
            stem = given.removeprefix("asterope-")
            schema = Path(__file__).parents[1] / f"{stem}.schema.json"
            check = partial(_refuse_false_intervals, kind.remedy)
            return name, read_checked(path, kind, schema, check, content)
    if not isinstance(whole, dict) or given == "asterope-profile":
        return "profile", load_profile(path, content)
    raise BadInput(
        f"{where}: not a profile, sample log, bench results or trial of Asterope: name files of "
        "asterope-tune, or --json files of asterope-bench or asterope-prove"
    )


def _refuse_false_intervals(remedy: str, value: Any, place: Place = ()) -> None:
    """A check that a schema cannot express: no interval ends before it starts."""
    inner = enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        inner = value.items()
        low, high = value.get("low"), value.get("high")
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
            raise Fault(f"{low} to {high} is not an interval: {remedy}", place)
    for key, one in inner:
        _refuse_false_intervals(remedy, one, (*place, key))


def _json(text: bytes) -> Any:
    """None if it is not JSON."""
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        return None


def _refuse_other_machines(kinds: Mapping[str, Any], names: Mapping[str, str]) -> None:
    found = [
        (one_line(names[kind]), fingerprint)
        for kind in ("profile", "log", "bench")
        if kind in kinds and (fingerprint := _machine_of(kinds[kind]).get("fingerprint"))
    ]
    for name, fingerprint in found[1:]:
        first, known = found[0]
        if fingerprint != known:
            raise BadInput(
                f"{name}: of another machine (fingerprint {one_line(fingerprint)[:40]}) than "
                f"{first} ({one_line(known)[:40]}): name files of one machine"
            )
