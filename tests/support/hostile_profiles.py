"""Profiles that must be refused, made from good ones by one change each."""

from __future__ import annotations

import json
import re
from functools import reduce
from operator import delitem, getitem, setitem
from pathlib import Path
from typing import Any, Callable

from profile_samples import good_profile, incomplete_profile

_GOOD = good_profile()
_TEXT, _CHOICES = json.dumps(_GOOD), _GOOD["choices"]
# Thousands of others would first be too many values.
_SHORTEST = min(_CHOICES, key=lambda choice: len(json.dumps(choice)))


def _holder(profile: dict[str, Any], place: str) -> tuple[Any, str | int]:
    """The holder of a place, as messages write that, and the last step to there."""
    steps = re.findall(r"[\w-]+", place)
    *path, last = (int(step) if step.isdecimal() else step for step in steps)
    return reduce(getitem, path, profile), last


def _changed(place: str, *value: Any, make: Callable[[], dict[str, Any]] = good_profile) -> str:
    """The profile with that value in a place, or without the place."""
    profile = make()
    (setitem if value else delitem)(*_holder(profile, place), *value)
    return json.dumps(profile)


def _literal(before: str, after: str) -> str:
    """The good profile's text, changed where JSON's writer would not write such a thing."""
    assert before in _TEXT
    return _TEXT.replace(before, after, 1)


# Texts that could end a C comment or string, or mean something to a template.
BREAKOUTS = {
    "comment end": "*/ int main(void) { return 1; } /*",
    "line comment end": "x\nint main(void) { return 1; }",
    "carriage return": "x\rint y;",
    "final backslash": "x\\",
    "double quote": '" int y; "',
    "jinja statement": "{% include 'x' %}",
    "nul": "x\x00y",
    "escape sequence": "\x1b[31mred",
    "not ASCII": "caf\u00e9",
    "lone surrogate": "x\ud800",
}

# Each place where a profile holds text.
TEXT_PLACES = (
    *("source", "machine.cpu.brand", "machine.libc", "machine.fingerprint"),
    *("machine.cpu.features[1]", "search.finished", "search.tool_version", "search.workload"),
    *("search.source_map", "search.warnings[0]", "search.without[0]", "search.invalid[0].reason"),
    *("search.distribution", "choices[6].copies.taken.shape"),
    *("choices[3].evidence.proof.ties[0]", "choices[3].copies.taken.rt"),
)


def _from_line(line: str) -> tuple[str, tuple[str, tuple[str, ...]]]:
    """A line of bad_profiles.txt, which says how: its name, the file and what its message holds."""
    change, said = line.split(" -> ")
    make = incomplete_profile if change.startswith("incomplete: ") else good_profile
    place, _, text = change.removeprefix("incomplete: ").removesuffix(" gone").partition(" = ")
    if text.startswith("@"):
        value = [getitem(*_holder(_GOOD, text[1:]))]
    else:
        value = [json.loads(text)] if text else []
    parts = said[1:] if said.startswith("@") else f"{place} | {said}"
    return change, (_changed(place, *value, make=make), tuple(parts.split(" | ")))


_LINES = (Path(__file__).with_name("bad_profiles.txt")).read_text(encoding="ascii").splitlines()

# Name -> (the file's content, what the message must hold: the place and what is wrong).
HOSTILE: dict[str, tuple[bytes | str, tuple[str, ...]]] = {
    **dict(_from_line(line) for line in _LINES if line and not line.startswith("#")),
    # No profile at all
    "empty file": ("", ("empty",)),
    "UTF-16": (_TEXT.encode("utf-16"), ("UTF-8",)),
    "not JSON": ("#!/bin/sh\n", ("line 1, column 1", "not JSON")),
    "truncated": (_TEXT[:-40], ("line 1, column", "cut short")),
    "raw newline in a string": (_literal("a test", "a\ntest"), ("line 1, column", "not JSON")),
    "other JSON": ('{"name": "x"}', ("format", "not a profile")),
    "larger than 16 MiB": (_TEXT + " " * (16 << 20), ("larger than 16 MiB",)),
    "nested deeply": ("[" * 100_000, ("nested too deeply",)),
    "too many values": ("[" + "0," * 300_000 + "0]", ("more than 200000 values",)),
    "newer version with new fields": (
        json.dumps({"format": "asterope-profile", "version": 3, "new": {}}),
        ("version", "made by a newer asterope: profile version 3"),
    ),
    "unknown field with a hostile name": (
        _changed("machine", {**_GOOD["machine"], "*/ int main(){} /*": 1}),
        ('machine["*/ int main(){} /*"]', "unknown field"),
    ),
    "unknown field with a newline": (
        json.dumps({**_GOOD, "a\nb": 1}),
        (r'["a\nb"]', "printable ASCII"),
    ),
    "repeated field": (
        _literal('"up_to": 512', '"up_to": 512, "up_to": 100'),
        ("choices[2].up_to", "given twice"),
    ),
    "1e999": (_literal("123.4", "1e999"), ("search.seconds", "not a finite number")),
    "an integer of 5,000 digits": (
        _literal('"cpus": 2', f'"cpus": -{"9" * 5000}'),
        ("machine.cpus", "not a finite number"),
    ),
    "too many choices": (_changed("choices", [_SHORTEST] * 2049), ("choices", "maxItems 2048")),
    "no pipelines": (_changed("choices", _CHOICES[6:]), ("choices", "no pipelines of memcpy")),
    "text of 201 characters": (_changed("source", "x" * 201), ("source", "longer than 200")),
    **{
        f"{name} in {place}": (_changed(place, text), (f": {place}: ",))
        for name, text in BREAKOUTS.items()
        # each in one place, and one in each: test_profile looks at the pattern of every text
        for place in TEXT_PLACES[: None if name == "comment end" else 1]
    },
}
