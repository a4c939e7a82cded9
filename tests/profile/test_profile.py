"""A profile from outside: a safe one is read whole, any other is refused in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from asterope import profile
from asterope.faults import BadInput
from asterope.profile import load_profile
from asterope.spaces import probes
from asterope.spaces.threads import Share
from asterope.spaces.x86_64 import (
    overlapping_copies,
    pipelines,
    set_pipelines,
    small_copies,
    small_sets,
)
from hostile_profiles import HOSTILE
from profile_samples import (
    choice,
    good_profile,
    incomplete_profile,
    merged_profile,
    provisional_profile,
)

REFERENCE = Path(__file__).parents[2] / "generated" / "reference"

# As printed in the paper: up to bytes, RT LT ST PT PS PD.
PAPER = {
    "xeon-gold-5218": """
        128      MM  T NT T0  2  0
        8192     YMM T T  T1 14  0
        262144   XMM T T  T0  4 30
        1048576  MM  T T  T0  2 28
        4194304  MM  T T  T0  2 28
        33554432 MM  T T  T0  2 30
    """,
    "opteron-6378": """
        128      MM  T T  T0  2  0
        8192     XMM T NT NTA 2 12
        262144   XMM T NT NTA 2 30
        1048576  XMM T NT NTA 2 30
        4194304  XMM T NT NTA 4 28
        33554432 XMM T NT NTA 2 20
    """,
    "example-routine": """
        128      MM  T NT T0  2  0
        8192     YMM T T  T1 10  0
        262144   XMM T T  T0  8 30
        1048576  ZMM T T  NTA 4 28
        4194304  XMM T T  NTA 2 20
        33554432 MM  T T  NTA 2 20
    """,
}


def written(folder: Path, content: object) -> Path:
    path = folder / "profile.json"
    text = content if isinstance(content, (bytes, str)) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def fault_of(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        load_profile(path)
    return str(caught.value)


# --- Good profiles --------------------------------------------------------------------------------


def test_a_full_profile_comes_through_whole(tmp_path):
    profile = load_profile(written(tmp_path, good_profile()))
    assert profile.raw == good_profile()
    assert (profile.architecture, profile.complete, profile.left_out) == ("x86_64", True, {})
    assert (profile.machine, profile.search) == (profile.raw["machine"], profile.raw["search"])
    rows = profile.of("pipelines")
    ends = [0, 128, 256, 512, 1024, 20000, 1048576]
    assert [(one.above, one.up_to) for one in rows] == list(zip(ends, ends[1:]))
    last, extended, senses = rows[3:]
    assert last.rate("cold", "libc_ns") == last.size / last.timing("cold")["libc_ns"]
    assert (last.size, last.sensing, last.plain) == (1024, None, last.evidence)
    assert (extended.size, extended.copy.tb) == (16384, 16)
    assert senses.sensing == probes.SensingCopy(
        probes.Probe("source", 4),
        300,
        pipelines.Tuple("YMM", "T", "T", "none", 0, 0, pw=8),
        pipelines.Tuple("XMM", "T", "NT", "T0", 4, 8, pi=4),
    )
    assert (senses.copy, senses.evidence["ratio"]) == (extended.copy, 1.41)
    assert senses.plain["ratio"] == 1.1
    lengths = {name: len(profile.of("pipelines", intent=name)) for name in profile.intents}
    assert lengths == {"hot": 4, "cold": 5, "consume": 1}
    shares = [Share(2, 0), Share(1, 0), Share(4, 65536)]
    assert [one.copy for one in profile.of("threads")] == shares
    assert profile.the("overlapping").copy == overlapping_copies.Tuple("YMM", 128)
    assert [one.up_to for one in profile.of("pipelines", "memset")] == [65536, 1048576]
    sets = profile.of("pipelines", "memset")[1].sensing
    assert sets.pipelines == (
        ("hot", set_pipelines.Tuple("XMM", "T")),
        ("cold", set_pipelines.Tuple("YMM", "NT")),
    )
    assert (sets.probe.name, sets.threshold, sets.heeds) == ("destination 4", 250, True)
    assert [profile.the("small", one).up_to for one in ("memcpy", "memset")] == [256, 128]


def test_left_out_parts_may_be_sizes_or_steps_or_untold(tmp_path):
    for left_out in (
        incomplete_profile()["left_out"],
        {"memcpy": {"sizes": [257]}},
        {"memset": {"sizes": [8192], "steps": ["rows"]}},
        {},
    ):
        raw = {**incomplete_profile(), "left_out": left_out}
        if not left_out:
            del raw["left_out"]
        profile = load_profile(written(tmp_path, raw))
        assert (profile.left_out, profile.complete) == (left_out, False)


def farthest(space: Any) -> Iterator[Any]:
    """Each variant at the farthest distances."""
    for one in space.variants():
        prefetch = {"pd": 0 if one.pt == "none" else 30} if space is pipelines else {}
        yield space.Tuple(**{**asdict(one), **prefetch, "pw": 32 if one.pw else 0})


SPACES = {
    "pipelines": (0, partial(farthest, pipelines)),
    "small copies": (6, small_copies.points),
    "pipelines of sets": (12, partial(farthest, set_pipelines)),
    "small sets": (14, small_sets.points),
}


@pytest.mark.parametrize(("place", "all_of_them"), SPACES.values(), ids=SPACES)
def test_every_copy_of_the_space_may_be_taken_and_tie(tmp_path, place, all_of_them):
    every = list(dict.fromkeys(all_of_them()))
    assert len(every) > 10
    raw = good_profile()
    one = raw["choices"][place]
    for start in range(0, len(every), 100):
        part = every[start : start + 100]
        one["evidence"]["runners_up"] = [{"tuple": asdict(t)} for t in part]
        one["evidence"]["proof"]["ties"] = [t.name for t in part[1:]]
        one["copies"]["taken"] = asdict(part[0])
        if one["kind"] == "small":
            one["up_to"] = part[0].bound
        read = load_profile(written(tmp_path, raw)).choices[place]
        assert read.copy == part[0]
        assert read.evidence["proof"]["ties"] == [t.name for t in part[1:]]


def test_the_required_fields_alone_are_a_profile(tmp_path):
    good = good_profile()
    raw = {field: good[field] for field in ("format", "version", "architecture", "complete")}
    raw["choices"] = [choice("pipelines", 0, 128, good["choices"][0]["copies"]["taken"])]
    profile = load_profile(written(tmp_path, raw))
    assert profile.source is None
    assert not profile.machine and not profile.search
    assert profile.has("memcpy") and not profile.has("memset")
    assert profile.the("small") is None and profile.the("overlapping") is None
    assert profile.intents == ()
    assert profile.choices[0].evidence == {} == profile.choices[0].timing("hot")


def test_facts_of_the_head_comment_are_unknown_where_they_are_left_out(tmp_path):
    few = {"machine": {"cpu": {"model": 17}}, "search": {"rigor": "quick"}}
    profile = load_profile(written(tmp_path, {**good_profile(), **few}))
    cpu, search = profile.machine["cpu"], profile.search
    assert (cpu["model"], cpu["brand"], profile.machine["libc"]) == (17, "unknown", "unknown")
    assert (search["rigor"], search["workload"]) == ("quick", "unknown")
    assert profile.raw == {**good_profile(), **few}


def test_each_kind_of_probe_has_its_own_pipelines(tmp_path):
    raw = good_profile()
    copies = raw["choices"][5]["copies"]
    fetch = copies["fetch"] = raw["choices"][4]["copies"]["taken"]
    assert "never goes on with fetch" in fault_of(written(tmp_path, raw))
    copies["probe"]["kind"] = "each"
    copy = load_profile(written(tmp_path, raw)).choices[5].sensing
    assert copy.fetch == pipelines.Tuple(**fetch)
    assert copy.all_pipelines == (copy.hot, copy.fetch, copy.cold)
    copies["probe"]["kind"] = "both"
    assert "goes on with produce" in fault_of(written(tmp_path, raw))
    copies["produce"] = fetch
    assert load_profile(written(tmp_path, raw)).choices[5].sensing.produce == copy.fetch
    copies["fetch"] = {**fetch, "pt": "T3"}
    assert "choices[5].copies.fetch" in fault_of(written(tmp_path, raw))


def test_a_sensing_copy_may_begin_above_16383_bytes(tmp_path):
    raw = good_profile()
    raw["choices"][4].update(up_to=16383, size=16383)
    raw["choices"][5]["above"] = 16383
    assert load_profile(written(tmp_path, raw)).choices[5].sensing


@pytest.mark.parametrize("name", PAPER)
def test_a_reference_profile_holds_the_paper_s_table(name):
    profile = load_profile(REFERENCE / f"{name}.json")
    rows = [f"{one.up_to} {one.copy.name}".split() for one in profile.of("pipelines")]
    assert rows == [row.split() for row in PAPER[name].strip().splitlines()]
    assert "Kappes and Anastasiadis" in profile.source and "PLOS 2021" in profile.source


# --- Bad profiles ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("content", "expected"), HOSTILE.values(), ids=HOSTILE)
def test_a_bad_profile_is_named_in_one_short_line(tmp_path, content, expected):
    path = written(tmp_path, content)
    message = fault_of(path)
    assert message.startswith(f"{path}: ")
    for part in expected:
        assert part in message
    assert message.isascii()
    assert message.isprintable()  # so it is one line
    assert len(message) - len(str(path)) <= 220


def test_a_file_name_cannot_break_the_line(tmp_path):
    message = fault_of(tmp_path / "two\nlines\x1b[31m.json")
    assert message.isprintable()
    assert r"two\nlines\x1b[31m.json: " in message


# --- The schema -----------------------------------------------------------------------------------

SCHEMA = profile.schema("x86_64")


def subschemas(schema: Any, place: str = "schema") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside `schema`, itself included, with its place."""
    yield place, schema
    for group in ("properties", "patternProperties", "$defs"):
        for name, inner in schema.get(group, {}).items():
            yield from subschemas(inner, f"{place}.{group}.{name}")
    if "items" in schema:
        yield from subschemas(schema["items"], f"{place}.items")


MADE = [good_profile(), incomplete_profile(), merged_profile(), provisional_profile()]


def test_the_good_profiles_use_every_field():
    def used(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*(used(inner) for inner in value.values()))
        if isinstance(value, list):
            return set().union(*(used(inner) for inner in value))
        return set()

    described = {name for _, schema in subschemas(SCHEMA) for name in schema.get("properties", {})}
    assert described - set().union(*map(used, MADE)) == set()


def test_every_field_is_described_and_closed_or_bounded():
    fields = 0
    for place, schema in subschemas(SCHEMA):
        if re.search(r"\.(properties|patternProperties)\.[^.]+$", place):
            fields += 1
            assert schema.get("description"), place
        kind = schema.get("type")
        if kind == "object":
            assert schema["additionalProperties"] is False, place
        if kind == "array":
            assert schema["maxItems"] <= 100_000, place
        if kind in ("integer", "number"):
            bounded = {"minimum", "maximum"} <= schema.keys()
            assert bounded or "enum" in schema or "const" in schema, place
    assert fields > 70


@pytest.mark.parametrize("character", '*\\?"`{}\n\r\t\x00\x7f\u00e9')
def test_no_text_may_hold_a_character_that_could_leave_a_c_comment_or_string(character):
    patterns = [s["pattern"] for _, s in subschemas(SCHEMA) if s.get("type") == "string"]
    assert len(patterns) >= 8
    # Whatever surrounds it: the longest run of it, and it among accepted neighbours.
    texts = (character, character * 16, f"a{character}a", f"0{character}")
    for pattern in patterns:
        assert pattern.startswith("^") and pattern.endswith("$")
        assert not any(re.fullmatch(pattern, text) for text in texts), pattern
