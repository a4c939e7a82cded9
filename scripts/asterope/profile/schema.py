"""The schema of profiles, and the faults that this and other schemas find, in words."""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError, best_match

from ..faults import BadInput
from ..schemas import PROFILE_SCHEMA, log_schema, read_schema
from ..spaces import ARCHITECTURES
from .faults import REMEDY, Fault, fault_text, path_text, shown
from .text import Kind, parse, read

# A message has at most so many words of a list.
MOST_CHOICES = 10

# By the schema's rule: the words behind a value that breaks it.
_BROKEN = {
    "const": "where {} is expected",
    "minimum": "is less than {}",
    "maximum": "is more than {}",
    "multipleOf": "is no multiple of {}",
    "pattern": "has characters that do not belong there",
    "maxLength": "is longer than {} characters",
}


def validator(schema: Mapping[str, Any]) -> jsonschema.Draft202012Validator:
    # JSON Schema takes 8.0 for an integer. Here it is refused: all code behind this wants an int.
    def is_integer(_checker: object, value: object) -> bool:
        return type(value) is int

    base = jsonschema.Draft202012Validator
    strict = jsonschema.validators.extend(
        base, type_checker=base.TYPE_CHECKER.redefine("integer", is_integer)
    )
    return strict(schema)


@functools.cache
def schema(architecture: str) -> Mapping[str, Any]:
    """The whole schema of the architecture's profiles."""
    return read_schema(PROFILE_SCHEMA, architecture)


@functools.cache
def profile_validator(architecture: str) -> jsonschema.Draft202012Validator:
    return validator(schema(architecture))


def refuse_what_breaks(
    checker: jsonschema.Draft202012Validator, raw: Any, remedy: str = REMEDY
) -> None:
    """Raises Fault where `raw` is not as the schema says."""
    # A limit, because a hostile file can hold a fault in each of its 200,000 values.
    error = best_match(itertools.islice(checker.iter_errors(raw), 100))
    if error is not None:
        raise _fault_of(error, remedy)


def read_checked(
    path: str | os.PathLike,
    kind: Kind,
    schema_file: Path | None,
    check: Callable[[Any], None],
    content: bytes | None = None,
) -> Any:
    """A file of that kind, as the schema says, if there is one. `check` raises Fault for what the
    schema cannot refuse. `content`: its bytes, if they were read already. Raises BadInput."""
    try:
        raw = parse(read(path, kind) if content is None else content, kind)
        if schema_file is not None:
            checker = validator(json.loads(schema_file.read_text(encoding="utf-8")))
            refuse_what_breaks(checker, raw, kind.remedy)
        check(raw)
        return raw
    except Fault as fault:
        raise BadInput(fault_text(path, fault)) from None


def _fault_of(error: ValidationError, remedy: str) -> Fault:
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
        kinds = [limit] if isinstance(limit, str) else limit
        article = "an" if kinds[0][0] in "aeiou" else "a"
        what = f"{shown(value)} where {article} {' or '.join(kinds)} is expected"
    elif rule == "enum":
        choices = [str(choice) for choice in limit]
        if len(choices) > MOST_CHOICES:  # the line is to stay short
            choices = [*choices[: MOST_CHOICES - 1], f"{len(choices) - MOST_CHOICES + 1} others"]
        what = f"{shown(value)} is none of {', '.join(choices)}"
    elif rule in _BROKEN:
        what = f"{shown(value)} {_BROKEN[rule].format(json.dumps(limit))}"
    else:  # how many items or fields there may be
        what = f"breaks the schema's rule {rule} {shown(limit)}"
    return Fault(f"{what}: {remedy}", place)


def architecture_of(raw: Mapping[str, Any]) -> str:
    """That of a profile or a header of a log: all else that it may hold depends on that."""
    place = ("architecture",)
    if "architecture" not in raw:
        raise Fault(f"missing: {REMEDY}", place)
    if raw["architecture"] not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise Fault(f"{shown(raw['architecture'])} is none of {known}: {REMEDY}", place)
    return raw["architecture"]


@functools.cache
def _log_validator(architecture: str) -> jsonschema.Draft202012Validator:
    return validator(log_schema(architecture))


def log_header_fault(header: Mapping[str, Any]) -> str | None:
    """The fault in the header of a sample log, with its place; None where it is as it must be.

    A profile takes over the header's machine and search.
    """
    try:
        refuse_what_breaks(_log_validator(architecture_of(header)), header)
    except Fault as fault:
        return f"{path_text(fault.place)}: {fault}"
    return None
