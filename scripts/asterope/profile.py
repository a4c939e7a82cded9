"""Reads a profile from outside and lets through only what is safe to become C code."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError, best_match

from . import workloads
from .json_depth import MAXIMUM_DEPTH
from .one_line import one_line
from .schemas import read_schema
from .spaces import aliased_copies, overlapping_copies, pipelines, probes, small_copies, threads
from .text_file import open_to_read

FORMAT = "asterope-profile"
VERSION = 1
SCHEMA_FILE = Path(__file__).with_name("profile.schema.json")
LOG_SCHEMA_FILE = Path(__file__).with_name("trial_log.schema.json")

# What `balanced` weighs, all alike, in files that do not say: before fetch counted, too.
BALANCED = ("hot", "cold", "consume")

# A profile has some 3,000 values, the largest that the schema allows in earnest some 100,000.
MAXIMUM_BYTES = 16 << 20
MAXIMUM_VALUES = 200_000

_REMEDY = "correct it or run asterope-tune again"

# Where a value stands: the keys and indices that lead to it from the top.
_Place = tuple  # of str and int


class ProfileError(ValueError):
    """A profile that cannot be used. Its text is one line: file, place, what is wrong, remedy."""


@dataclass(frozen=True)
class Ratio:
    """libc's time over another's: median and sign-test interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Measurement:
    """One copy at one size under one workload. Times in ns, rates in 1e9 bytes/s."""

    ns: float | None = None
    gb_per_s: float | None = None
    libc_ns: float | None = None
    ratio: Ratio | None = None
    rounds: int | None = None


@dataclass(frozen=True)
class Timed:
    """How a copy did against libc; None and empty where the profile does not say."""

    ratio: float | None
    workloads: Mapping[str, Measurement]

    def gb_per_s(self, weights: Mapping[str, float]) -> float | None:
        """Weighted geometric mean over the workloads, in 1e9 bytes/s; all alike where no weights.

        None where one of those that count has no speed, or none of them was measured.
        """
        counted = {
            name: weights.get(name, 0) if weights else 1
            for name in self.workloads
            if not weights or weights.get(name, 0) > 0
        }
        rates = [self.workloads[name].gb_per_s for name in counted]
        if not rates or None in rates:
            return None
        total = sum(counted.values())
        return math.prod(rate ** (w / total) for rate, w in zip(rates, counted.values()))


@dataclass(frozen=True)
class Entry(Timed):
    """One pipeline and how it did."""

    tuple: pipelines.Tuple
    tied: bool | None


@dataclass(frozen=True)
class Sensing(Timed):
    """One sensing copy and how it did; percentiles of its probe's ticks, see the schema."""

    copy: probes.SensingCopy
    cached_ticks: float | None
    uncached_ticks: float | None


@dataclass(frozen=True)
class Proof:
    """What a winner's title rests on; `ties` are names of others that might have won."""

    samples: int
    rounds: int
    lead: Ratio
    ties: Sequence[str]


@dataclass(frozen=True)
class Interval:
    """The transfer sizes above < bytes <= up_to; `size` is the one that was measured.

    Where there is a sensing copy it is taken, and the winner only without a usable counter. `axes`:
    for each workload the best copy of each extension axis, and of "paper", by name. `proof`: None
    where the profile does not say.
    """

    above: int
    up_to: int
    size: int
    winner: Entry
    proof: Proof | None
    sensing: Sensing | None
    axes: Mapping[str, Mapping[str, Entry]]
    runners_up: Sequence[Entry]
    noise_floor: Mapping[str, Ratio]


@dataclass(frozen=True)
class SmallEntry:
    """One small copy and how it did against libc."""

    tuple: small_copies.SmallTuple
    ratio: float | None
    tied: bool | None
    workloads: Mapping[str, Measurement]


@dataclass(frozen=True)
class Aliased:
    """The copy for buffers that alias modulo 4096, for above < bytes <= up_to."""

    above: int
    up_to: int
    tuple: aliased_copies.AliasedTuple


@dataclass(frozen=True)
class Overlapping:
    """The copy for buffers that overlap, and how it did against libc."""

    tuple: overlapping_copies.OverlappingTuple
    ratio: float | None = None


@dataclass(frozen=True)
class LeftOut:
    """What a search did not get to: transfer sizes in bytes, and steps by name."""

    sizes: Sequence[int]
    steps: Sequence[str]


def _all_measured(intervals: Sequence[Interval], weights: Mapping[str, float]) -> bool:
    taken: list[Timed] = [interval.winner for interval in intervals]
    taken += [interval.sensing for interval in intervals if interval.sensing]
    return all(t.ratio is not None and t.gb_per_s(weights) is not None for t in taken)


@dataclass(frozen=True)
class Intent:
    """The winners of one workload, for callers who know that it is theirs."""

    workload: str
    intervals: Sequence[Interval]

    @property
    def weights(self) -> Mapping[str, float]:
        """What each workload counts for in the ratios."""
        return {self.workload: 1.0}

    @property
    def measured(self) -> bool:
        """Whether every winner has a ratio and a speed."""
        return _all_measured(self.intervals, self.weights)


@dataclass(frozen=True)
class Profile:
    """A profile that passed every check. `raw` is the whole of it as JSON values.

    `machine` and `search` are empty where the profile has none; where it has them, the fields that
    the routine's head comment prints are there, "unknown" where the profile leaves them out.
    `left_out` is None where it is complete, and where it does not say.
    """

    architecture: str
    complete: bool
    left_out: LeftOut | None
    source: str | None
    machine: Mapping[str, Any]
    search: Mapping[str, Any]
    intervals: Sequence[Interval]
    intents: Mapping[str, Intent]  # by workload
    small: SmallEntry | None
    aliased: Aliased | None
    overlapping: Overlapping | None
    shares: Sequence[threads.Share]  # below the first one, and where there is none: alone
    raw: Mapping[str, Any]

    @property
    def weights(self) -> Mapping[str, float]:
        """What each workload counts for; empty where the profile does not say, so all alike."""
        workload = self.search.get("workload")
        single = {workload: 1.0} if workload in workloads.names("tunable") else {}
        balanced = dict.fromkeys(BALANCED, 1.0) if workload == "balanced" else {}
        return self.search.get("weights") or single or balanced

    @property
    def measured(self) -> bool:
        """Whether all that its sizes take is measured; the paper's profiles hold nothing."""
        return _all_measured(self.intervals, self.weights)


def load_profile(path: str | os.PathLike, content: bytes | None = None) -> Profile:
    """Reads and checks the profile at `path`; `content`: what was read from there already.

    Raises ProfileError for whatever is wrong with it, an unreadable file included.
    """
    try:
        raw = _parse(_decode(_read(path) if content is None else content))
        _check(raw)
    except _Fault as fault:
        parts = [one_line(path), *([_path_text(fault.place)] if fault.place else [])]
        raise ProfileError(": ".join([*parts, str(fault)])) from None
    return _build(raw)


def log_header_fault(header: Any) -> str | None:
    """What is wrong with the header of a trial log, and where; None where it is as it must be.

    What a header says of the machine and of the search becomes a profile's.
    """
    profile = _schema()
    # One schema of both: a registry of schemas is not in all versions of jsonschema.
    text = json.dumps(read_schema(LOG_SCHEMA_FILE)).replace(profile["$id"] + "#", "#")
    schema = {**json.loads(text), "$defs": profile["$defs"]}
    error = best_match(itertools.islice(_validator(schema).iter_errors(header), 100))
    if error is None:
        return None
    fault = _schema_fault(error)
    return f"{_path_text(fault.place)}: {fault}"


class _Fault(Exception):
    """What is wrong with a profile, and where in it."""

    def __init__(self, what: str, place: _Place = ()) -> None:
        super().__init__(what)
        self.place = place


# --- From the file to JSON values -----------------------------------------------------------------


def _read(path: str | os.PathLike) -> bytes:
    try:
        with open_to_read(path) as file:
            return file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise _Fault(
            f"cannot read it: {error.strerror}: name a profile that asterope-tune wrote"
        ) from None


def _decode(content: bytes) -> str:
    if len(content) > MAXIMUM_BYTES:
        raise _Fault(
            f"larger than {MAXIMUM_BYTES >> 20} MiB, so no profile: "
            "name a file that asterope-tune wrote"
        )
    if not content.strip():
        raise _Fault("the file is empty: run asterope-tune again")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Fault(
            f"not text in UTF-8 (byte {error.start}): name a profile that asterope-tune wrote"
        ) from None


class _Object(dict):
    """A JSON object that remembers a key it was given twice, which a plain dict would hide."""

    repeated: str | None = None


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    result = _Object()
    for key, value in pairs:
        if key in result and result.repeated is None:
            result.repeated = key
        result[key] = value
    return result


def _integer(digits: str) -> int | float:
    # int() is slow and may refuse on thousands of digits. Infinity keeps the value's place for
    # _refuse_unsound, which can say where it stands.
    return int(digits) if len(digits) <= 20 else math.inf


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise _Fault(
            f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}): "
            "the file is damaged or cut short: run asterope-tune again"
        ) from None
    except RecursionError:
        raise _Fault(f"nested too deeply to be a profile: {_REMEDY}") from None


# --- From JSON values to a checked profile --------------------------------------------------------


def _check(raw: Any) -> None:
    _refuse_unsound(raw)
    _refuse_other_formats(raw)
    # A limit, because a hostile file can hold a fault in each of its 200,000 values.
    errors = itertools.islice(_validator(_schema()).iter_errors(raw), 100)
    error = best_match(errors)
    if error is not None:
        raise _schema_fault(error)
    _refuse_loose_intervals(raw["intervals"], ("intervals",))
    for name, intent in raw.get("intents", {}).items():
        _refuse_loose_intervals(intent["intervals"], ("intents", name, "intervals"))
    _refuse_false_sensing(raw)
    _refuse_false_shares(_shares(raw))
    _refuse_false_ties(raw)
    _refuse_false_left_out(raw)
    weights = raw.get("search", {}).get("weights")
    if weights is not None and not any(weights.values()):
        raise _Fault(f"no workload has a weight: {_REMEDY}", ("search", "weights"))
    aliased = raw.get("aliased", {}).get("winner")
    if aliased is not None and aliased["above"] >= aliased["up_to"]:
        raise _Fault(f"above must be less than up_to: {_REMEDY}", ("aliased", "winner"))
    for place, fields in _tuples(raw):
        reason = _WHY_NOT.get(place[0], pipelines.why_not)(**fields)
        if reason is not None:
            raise _Fault(f"no such copy: {reason}: {_REMEDY}", place)
    for place, interval in _intervals(raw):
        for where, axis, entry in _axes(interval):
            used = pipelines.Tuple(**entry["tuple"]).extensions
            if used != ({axis} - {"paper"}):
                what = " ".join(sorted(used)) or "none"
                expected = "none" if axis == "paper" else f"{axis} alone"
                fault = f"of the extension axes it uses {what}, not {expected}"
                raise _Fault(f"{fault}: {_REMEDY}", (*place, *where))


def _refuse_unsound(raw: Any) -> None:
    """Refuses what the schema cannot see, and what no field of any profile may hold."""
    pending: list[tuple[Any, _Place]] = [(raw, ())]
    values = 1
    while pending:
        value, place = pending.pop()
        if len(place) == MAXIMUM_DEPTH and isinstance(value, (_Object, list)):
            raise _Fault(f"nested too deeply to be a profile: {_REMEDY}", place[:3])
        if isinstance(value, float) and not math.isfinite(value):
            raise _Fault(f"not a finite number of a sane size: {_REMEDY}", place)
        if isinstance(value, str):
            _refuse_odd_text(value, place)
        if isinstance(value, (_Object, list)):
            values += len(value)
            if values > MAXIMUM_VALUES:
                raise _Fault(f"more than {MAXIMUM_VALUES} values, so no profile: {_REMEDY}")
        if isinstance(value, _Object):
            if value.repeated is not None:
                raise _Fault(f"given twice: {_REMEDY}", (*place, value.repeated))
            for key in value:
                _refuse_odd_text(key, (*place, key))
            # Reversed, so that faults are found in the order of the file.
            pending.extend((value[key], (*place, key)) for key in reversed(list(value)))
        elif isinstance(value, list):
            pending.extend((value[i], (*place, i)) for i in reversed(range(len(value))))


def _refuse_odd_text(text: str, place: _Place) -> None:
    # The schema's patterns say so too, but Python's `$` lets a final newline pass.
    if not (text.isascii() and text.isprintable()):
        raise _Fault(f"{_shown(text)} is not all printable ASCII: {_REMEDY}", place)


def _refuse_other_formats(raw: Any) -> None:
    """Says plainly what the schema would report as one fault of many."""
    if not isinstance(raw, dict):
        raise _Fault(f"{_shown(raw)} where a JSON object is expected: {_REMEDY}")
    if raw.get("format") != FORMAT:
        raise _Fault(
            f'not an Asterope profile ("format" must be "{FORMAT}"): '
            "name a file that asterope-tune wrote",
            ("format",),
        )
    version = raw.get("version")
    if type(version) is int and version > VERSION:
        raise _Fault(
            f"made by a newer asterope: profile version {version}, this one reads {VERSION}: "
            "upgrade asterope",
            ("version",),
        )


def _validator(schema: Mapping[str, Any]) -> jsonschema.Draft202012Validator:
    # JSON Schema takes 8.0 for an integer. Here it is refused, so that what follows sees ints only.
    def is_integer(_checker: object, value: object) -> bool:
        return type(value) is int

    base = jsonschema.Draft202012Validator
    strict = jsonschema.validators.extend(
        base, type_checker=base.TYPE_CHECKER.redefine("integer", is_integer)
    )
    return strict(schema)


def _schema() -> dict[str, Any]:
    return read_schema(SCHEMA_FILE)


def _schema_fault(error: ValidationError) -> _Fault:
    """The fault that the schema found, in our words: jsonschema's own echo the whole value."""
    place = tuple(error.absolute_path)
    value, rule, limit = error.instance, error.validator, error.validator_value
    if rule == "additionalProperties":
        patterns = error.schema.get("patternProperties", {})
        known = error.schema.get("properties", {})
        unknown = [
            k for k in value if k not in known and not any(re.search(p, k) for p in patterns)
        ]
        place = (*place, unknown[0])
        what = "unknown field"
    elif rule == "required":
        place = (*place, next(key for key in limit if key not in value))
        what = "missing"
    elif rule == "type":
        article = "an" if limit[0] in "aeiou" else "a"
        what = f"{_shown(value)} where {article} {limit} is expected"
    elif rule == "enum":
        what = f"{_shown(value)} is none of {', '.join(str(choice) for choice in limit)}"
    elif rule == "const":
        what = f"{_shown(value)} where {json.dumps(limit)} is expected"
    elif rule == "minimum":
        what = f"{_shown(value)} is less than {limit}"
    elif rule == "maximum":
        what = f"{_shown(value)} is more than {limit}"
    elif rule == "multipleOf":
        what = f"{_shown(value)} is no multiple of {limit}"
    elif rule == "pattern":
        what = f"{_shown(value)} has characters that do not belong there"
    elif rule == "maxLength":
        what = f"{_shown(value)} is longer than {limit} characters"
    else:  # how many items or fields there may be
        what = f"breaks the schema's rule {rule} {_shown(limit)}"
    return _Fault(f"{what}: {_REMEDY}", place)


def _refuse_loose_intervals(
    intervals: Sequence[Mapping[str, Any]], place: _Place, previous: int = 0
) -> None:
    """Refuses intervals that are not (0, a], (a, b], (b, c], ... with 0 < a < b < c.

    They begin at `previous`, where that is not 0.
    """
    for i, interval in enumerate(intervals):
        above, up_to = interval["above"], interval["up_to"]
        if above != previous:
            fault = "leaves a gap" if above > previous else "overlaps or is out of order"
            raise _Fault(f"{above} {fault}: expected {previous}: {_REMEDY}", (*place, i, "above"))
        if up_to <= above:
            raise _Fault(
                f"{up_to} is not beyond the interval's lower end {above}: {_REMEDY}",
                (*place, i, "up_to"),
            )
        size = interval.get("size", up_to)
        if not above < size <= up_to:
            raise _Fault(
                f"{size} is not above {above} and up to {up_to}: {_REMEDY}", (*place, i, "size")
            )
        previous = up_to


def _refuse_false_sensing(raw: Mapping[str, Any]) -> None:
    """Refuses sensing copies where they cannot be, and probes that do not exist."""
    for place, interval in _intervals(raw):
        if "sensing" not in interval:
            continue
        place = (*place, "sensing")
        if place[0] == "intents":
            raise _Fault(f"who states an intent needs no sensing: {_REMEDY}", place)
        least = probes.MINIMUM_BYTES
        if interval["above"] < least - 1:
            raise _Fault(
                f"it takes {least} bytes or more, but the interval begins below: {_REMEDY}", place
            )
        sensing = interval["sensing"]
        reason = probes.why_not_probe(sensing["kind"], sensing["lines"])
        if reason is not None:
            raise _Fault(f"no such probe: {reason}: {_REMEDY}", place)


def _refuse_false_shares(shares: Sequence[Mapping[str, Any]]) -> None:
    """Refuses shares that do not follow one another, and chunks that are too small."""
    place = ("threads", "intervals")
    if not shares:
        return
    _refuse_loose_intervals(shares, place, shares[0]["above"])
    for i, share in enumerate(shares):
        if 0 < share["chunk"] < threads.LEAST_CHUNK:
            fault = f"{share['chunk']} is neither 0 nor {threads.LEAST_CHUNK} and more"
            raise _Fault(f"{fault}: {_REMEDY}", (*place, i, "chunk"))


def _refuse_false_ties(raw: Mapping[str, Any]) -> None:
    """Refuses winners that tie with themselves."""
    races: list[tuple[_Place, Mapping[str, Any], type]] = [
        (place, interval, pipelines.Tuple) for place, interval in _intervals(raw)
    ]
    if "small" in raw:
        races.append((("small",), raw["small"], small_copies.SmallTuple))
    for place, race, make in races:
        ties = race.get("proof", {}).get("ties", ())
        winner = make(**race["winner"]["tuple"]).name
        if winner in ties:
            place = (*place, "proof", "ties", ties.index(winner))
            raise _Fault(f"the winner does not tie with itself: {_REMEDY}", place)


def _refuse_false_left_out(raw: Mapping[str, Any]) -> None:
    """Refuses a profile that left something out and is complete or has it, or left out nothing."""
    if "left_out" not in raw:
        return
    left_out = raw["left_out"]
    sizes, steps = left_out.get("sizes", []), left_out.get("steps", [])
    if raw["complete"]:
        raise _Fault(f"nothing is left out where complete is true: {_REMEDY}", ("left_out",))
    if not sizes and not steps:
        raise _Fault(f"names neither sizes nor steps: {_REMEDY}", ("left_out",))
    measured = {interval.get("size", interval["up_to"]) for interval in raw["intervals"]}
    for i, size in enumerate(sizes):
        if size in measured:
            raise _Fault(f"{size} has a winner: {_REMEDY}", ("left_out", "sizes", i))
    for step, race in (("small copies", "small"), ("overlapping buffers", "overlapping")):
        if step in steps and race in raw:
            place = ("left_out", "steps", steps.index(step))
            raise _Fault(f"{step} have a winner: {_REMEDY}", place)


def _shares(raw: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """How each interval of sizes is shared among threads."""
    return raw.get("threads", {}).get("intervals", ())


def _axes(interval: Mapping[str, Any]) -> Iterator[tuple[_Place, str, Mapping[str, Any]]]:
    """Every best copy of an axis: where its tuple stands in the interval, the axis, the entry."""
    for workload, best in interval.get("axes", {}).items():
        for axis, entry in best.items():
            yield ("axes", workload, axis, "tuple"), axis, entry


def _intervals(raw: Mapping[str, Any]) -> Iterator[tuple[_Place, Mapping[str, Any]]]:
    """Every interval of the profile, those of its intents included, with its place."""
    for i, interval in enumerate(raw["intervals"]):
        yield ("intervals", i), interval
    for name, intent in raw.get("intents", {}).items():
        for i, interval in enumerate(intent["intervals"]):
            yield ("intents", name, "intervals", i), interval


# What other races than those of the pipelines choose among.
_WHY_NOT = {
    "small": small_copies.why_not_small,
    "overlapping": overlapping_copies.why_not_overlapping,
}


def _tuples(raw: Mapping[str, Any]) -> Iterator[tuple[_Place, Mapping[str, Any]]]:
    """Every tuple of the profile, with its place."""
    races = list(_intervals(raw))
    races += [((name,), raw[name]) for name in _WHY_NOT if name in raw]
    for place, race in races:
        yield (*place, "winner", "tuple"), race["winner"]["tuple"]
        for k, entry in enumerate(race.get("runners_up", ())):
            yield (*place, "runners_up", k, "tuple"), entry["tuple"]
        for where, _, entry in _axes(race):
            yield (*place, *where), entry["tuple"]
        for way in ("hot", "cold") if "sensing" in race else ():
            yield (*place, "sensing", way), race["sensing"][way]


# --- Messages -------------------------------------------------------------------------------------


def _shown(value: object) -> str:
    """A value as a message may show it: one short line of ASCII, whatever it holds."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str):
        value = value if len(value) <= 32 else value[:32] + "..."
    return json.dumps(value)[:100]


def _path_text(place: _Place) -> str:
    """`("intervals", 3, "winner")` as `intervals[3].winner`."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z0-9_]{1,64}", step):
            text += f".{step}"
        else:
            text += f"[{_shown(step)}]"
    return text.lstrip(".")


# --- From checked JSON values to a Profile --------------------------------------------------------


def _build(raw: Mapping[str, Any]) -> Profile:
    machine, search = raw.get("machine", {}), raw.get("search", {})
    if machine:
        cpu = _filled(machine.get("cpu", {}), "brand", "family", "model", "stepping")
        machine = {**_filled(machine, "libc"), "cpu": cpu}
    if search:
        search = _filled(search, "workload", "rigor", "space", "finished")
    return Profile(
        architecture=raw["architecture"],
        complete=raw["complete"],
        left_out=_build_left_out(raw["left_out"]) if "left_out" in raw else None,
        source=raw.get("source"),
        machine=machine,
        search=search,
        intervals=_build_intervals(raw["intervals"]),
        intents={
            name: Intent(name, _build_intervals(intent["intervals"]))
            for name, intent in raw.get("intents", {}).items()
        },
        small=_build_small(raw["small"]["winner"]) if "small" in raw else None,
        aliased=_build_aliased(raw.get("aliased", {})),
        overlapping=_build_overlapping(raw["overlapping"]["winner"])
        if "overlapping" in raw
        else None,
        shares=tuple(threads.Share(**share) for share in _shares(raw)),
        raw=raw,
    )


def _filled(raw: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    return {**dict.fromkeys(fields, "unknown"), **raw}


def _build_left_out(raw: Mapping[str, Any]) -> LeftOut:
    return LeftOut(tuple(raw.get("sizes", ())), tuple(raw.get("steps", ())))


def _build_intervals(raw: Sequence[Mapping[str, Any]]) -> tuple[Interval, ...]:
    return tuple(_build_interval(interval) for interval in raw)


def _build_interval(raw: Mapping[str, Any]) -> Interval:
    return Interval(
        above=raw["above"],
        up_to=raw["up_to"],
        size=raw.get("size", raw["up_to"]),
        winner=_build_entry(raw["winner"]),
        proof=_build_proof(raw["proof"]) if "proof" in raw else None,
        sensing=_build_sensing(raw["sensing"]) if "sensing" in raw else None,
        axes={
            workload: {axis: _build_entry(entry) for axis, entry in best.items()}
            for workload, best in raw.get("axes", {}).items()
        },
        runners_up=tuple(_build_entry(entry) for entry in raw.get("runners_up", ())),
        noise_floor={name: Ratio(**ratio) for name, ratio in raw.get("noise_floor", {}).items()},
    )


def _build_entry(raw: Mapping[str, Any]) -> Entry:
    return Entry(
        tuple=pipelines.Tuple(**raw["tuple"]),
        ratio=raw.get("ratio"),
        tied=raw.get("tied"),
        workloads=_build_workloads(raw),
    )


def _build_proof(raw: Mapping[str, Any]) -> Proof:
    return Proof(raw["samples"], raw["rounds"], Ratio(**raw["lead"]), tuple(raw["ties"]))


def _build_sensing(raw: Mapping[str, Any]) -> Sensing:
    return Sensing(
        copy=probes.SensingCopy(
            probes.Probe(raw["kind"], raw["lines"]),
            raw["threshold"],
            pipelines.Tuple(**raw["hot"]),
            pipelines.Tuple(**raw["cold"]),
        ),
        ratio=raw.get("ratio"),
        workloads=_build_workloads(raw),
        cached_ticks=raw.get("cached_ticks"),
        uncached_ticks=raw.get("uncached_ticks"),
    )


def _build_small(raw: Mapping[str, Any]) -> SmallEntry:
    return SmallEntry(
        tuple=small_copies.SmallTuple(**raw["tuple"]),
        ratio=raw.get("ratio"),
        tied=raw.get("tied"),
        workloads=_build_workloads(raw),
    )


def _build_aliased(raw: Mapping[str, Any]) -> Aliased | None:
    winner = raw.get("winner")
    if winner is None:
        return None
    return Aliased(winner["above"], winner["up_to"], aliased_copies.AliasedTuple(**winner["tuple"]))


def _build_overlapping(raw: Mapping[str, Any]) -> Overlapping:
    return Overlapping(overlapping_copies.OverlappingTuple(**raw["tuple"]), raw.get("ratio"))


def _build_workloads(raw: Mapping[str, Any]) -> dict[str, Measurement]:
    return {
        name: _build_measurement(measurement)
        for name, measurement in raw.get("workloads", {}).items()
    }


def _build_measurement(raw: Mapping[str, Any]) -> Measurement:
    fields = dict(raw)
    if "ratio" in fields:
        fields["ratio"] = Ratio(**fields["ratio"])
    return Measurement(**fields)
