"""The fields that the guide to profiles lists are those of the schema, in the schema's words."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator

import pytest
from asterope import workloads
from asterope.profile import schema
from asterope.spaces import kinds
from conftest import REPOSITORY

SCRIPT = REPOSITORY / "scripts/packaging/profile_fields.py"
_found = importlib.util.spec_from_file_location("profile_fields", SCRIPT)
profile_fields = importlib.util.module_from_spec(_found)
_found.loader.exec_module(profile_fields)
OPERATIONS = {operation.name for operation in kinds.OPERATIONS}
GUIDE = (REPOSITORY / "scripts/docs/profile.md").read_text(encoding="utf-8")


def fields_of(owner: str, schema: dict, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Section and name of each field, those within lists and nested objects, too. Fields that are
    there for each workload have one section, fields for each operation their owner's row."""
    properties = schema.get("properties", {})
    for name, field in properties.items():
        if set(properties) <= set(workloads.TEXTS):
            yield "workloads", name
            continue
        if set(properties) == OPERATIONS:
            return
        yield owner, prefix + name
        yield from fields_of(owner, field, f"{prefix}{name}.")
        yield from fields_of(owner, field.get("items", {}), f"{prefix}{name}[].")


# The section of each definition of copies in the schema.
SECTIONS = {
    **{"memcpy_pipelines": "tuple", "memset_pipelines": "set_tuple"},
    **{"memcpy_small": "small_tuple", "memset_small": "small_tuple"},
    **{"memcpy_overlapping": "overlapping_tuple", "memcpy_aliased": "overlapping_tuple"},
    **{"memcpy_probe": "probe", "memset_probe": "set_probe"},
}


def test_the_guide_has_the_fields_as_the_schema_has_them_now() -> None:
    command = "python3 scripts/packaging/profile_fields.py scripts/docs/profile.md"
    assert profile_fields.with_fields(GUIDE) == GUIDE, f"run {command}"


def test_every_field_of_the_schema_is_there_and_no_other() -> None:
    whole = schema("x86_64")
    there, described = set(fields_of("profile", whole)), set()
    for name, definition in whole["$defs"].items():
        there |= set(fields_of(SECTIONS.get(name, name), definition))
    for section in re.split(r"^### ", profile_fields.fields_text(), flags=re.MULTILINE)[1:]:
        owner = section.partition("\n")[0].strip().lower().replace(" ", "_")
        cells = re.findall(r"^\|(`.+?`)\|", section, re.MULTILINE)
        names = [name for cell in cells for name in re.findall(r"`(.+?)`", cell)]
        described |= {(owner, name) for name in names}
    assert sorted(there - described) == []
    assert sorted(described - there) == []


def test_a_guide_that_differs_from_the_schema_is_put_right() -> None:
    changed = GUIDE.replace("|`seed`|Seed of every", "|`seed`|Some seed of every")
    assert changed != GUIDE
    assert profile_fields.with_fields(changed) == GUIDE


def test_a_guide_without_the_marks_is_refused() -> None:
    with pytest.raises(SystemExit, match="marks"):
        profile_fields.with_fields("# A guide\n")


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ({"description": "A.", "const": 2}, " Always `2`."),
        ({"description": "A.", "minimum": 0, "maximum": 30, "multipleOf": 2}, "`0`, `2`, ... `30`"),
        ({"description": "T temporal, NT not.", "enum": ["T", "NT"]}, ""),
        ({"description": "A.", "enum": ["up", "down"]}, " Values: `up`, `down`."),
        ({"description": "A.", "enum": ["mix", *workloads.names("tunable")]}, "(#workloads)"),
    ],
)
def test_values_are_listed_unless_the_description_has_them(field: dict, shown: str) -> None:
    assert shown in profile_fields.values(field)
    assert shown or not profile_fields.values(field)
