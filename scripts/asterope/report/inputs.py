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
from ..spaces.kinds import MEMCPY
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
        """The machine, as in profiles; of whole runs only its libc; empty if no input names one."""
        for given in (self.bench, self.log, self.profile):
            if given is not None and (machine := _machine_of(given)):
                return machine
        return {"libc": self.proof["libc"]} if self.proof is not None else {}

    @property
    def operation(self) -> str:
        """The function that the page compares with libc's."""
        return self.bench["operation"] if self.bench else MEMCPY

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


def _kind(noun: str, program: str, format: str, version: int) -> Kind:
    return Kind(noun, program, format, version, remedy=f"run {program} again")


# The kinds of JSON results, by the name of the input, and the schema of each.
_KINDS = {
    "bench": _kind("file of bench results", "asterope-bench --json", "asterope-bench", 2),
    "proof": _kind("file of asterope-prove --runs", "asterope-prove --json", "asterope-prove", 3),
    "trial": _kind("trial of asterope-prove", "asterope-prove --json", "asterope-trial", 2),
}


def read_inputs(paths: Sequence[str]) -> Inputs:
    """Raises BadInput for a file that cannot be read, is of another kind, or is of another
    machine."""
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for path in paths:
        kind, content = _read(path)
        if kind in found:
            noun = _KINDS[kind].noun if kind in _KINDS else kind
            raise BadInput(
                f"{one_line(path)}: a second {noun} beside {names[kind]}: name one of each kind"
            )
        found[kind], names[kind] = content, one_line(path)
    fingerprints = [
        (names[kind], fingerprint)
        for kind in ("profile", "log", "bench")
        if kind in found and (fingerprint := _machine_of(found[kind]).get("fingerprint"))
    ]
    for name, fingerprint in fingerprints:
        first, known = fingerprints[0]
        if fingerprint != known:
            raise BadInput(
                f"{name}: of another machine (fingerprint {one_line(fingerprint)[:40]}) than "
                f"{first} ({one_line(known)[:40]}): name files of one machine"
            )
    return Inputs(**found)


def _read(path: str) -> tuple[str, Any]:
    where = one_line(path)
    try:
        with open_to_read(path) as file:
            first = file.readline(MAXIMUM_LINE)
            if first.startswith(b"\x1f\x8b"):
                raise BadInput(f"{where}: is gzipped: unpack it first (gunzip)")
            header = _json(first)
            if header is not None and header.get("format") == sample_log.FORMAT:
                if not first.endswith(b"\n"):
                    raise BadInput(f"{where}: holds no whole first line: record anew")
                lines = iter(partial(file.readline, MAXIMUM_LINE), b"")
                return "log", sample_log.read_sample_log(header, lines, where)
            content = first + file.read(MAXIMUM_LINE)
    except OSError as error:
        raise BadInput(f"{where}: cannot read it: {error.strerror}") from None
    whole = _json(content)
    format = "asterope-profile" if whole is None else whole.get("format")
    if format == "asterope-profile":
        return "profile", load_profile(path, content)
    for name, kind in _KINDS.items():
        if format == kind.format:
            stem = format.removeprefix("asterope-")
            schema = Path(__file__).parents[1] / f"{stem}.schema.json"
            check = partial(_refuse_false_intervals, kind.remedy)
            return name, read_checked(path, kind, schema, check, content)
    raise BadInput(
        f"{where}: not a profile, sample log, bench results, whole runs or trial of Asterope: name "
        "files of asterope-tune, or --json files of asterope-bench or asterope-prove"
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


def _json(text: bytes) -> dict[str, Any] | None:
    """None if it is not a JSON object."""
    try:
        whole = json.loads(text.decode())
    except (ValueError, RecursionError):
        return None
    return whole if isinstance(whole, dict) else None
