"""Reads the JSON schemas, and fills in what other tables know.

Where a schema says `"forEachWorkload": {"of": COLUMN, "family": FAMILY, "description": TEXT, "is":
SCHEMA}`, it gets a property for each workload of that family whose row in the table of workloads
has that column set, or one of several ("measured or tunable"). `{name}` and `{text}` in the
description are the row's. And `"enumOfWorkloads": {"of": COLUMN, "and": [WORD, ...]}` is an
enumeration of words and workloads. `"sameAs": NAME` stands for what the neighbouring field of that
name is. What the schema of profiles says of the copies and sets comes from the spaces of the
architecture that it is read for, and what holds sets is defined as what holds copies.

Usage: python -m asterope.schemas ARCHITECTURE SCHEMA (a build step: prints it, filled, for C++)
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from . import spaces, workloads
from .spaces import probes
from .spaces.axis import Axis

# Definitions that there are once more for sets, as set_NAME.
_OF_SETS = (
    *("interval", "entry", "proof"),
    *("small", "small_entry", "small_proof", "small_tuple", "small_tuple_name"),
)


def read_schema(path: Path, architecture: str) -> dict[str, Any]:
    """The schema with all workloads filled in, in those of profiles and trial logs the architecture
    that they are of, and in that of profiles all axes of its copies.
    """
    whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), object_hook=_filled)
    if "architecture" in whole["properties"]:
        whole["properties"]["architecture"]["const"] = architecture
    if "tuple" in whole.get("$defs", {}):
        _fill_in_sets(whole["$defs"])
        _fill_in_spaces(whole["$defs"], spaces.of(architecture))
    return whole


def _filled(schema: dict[str, Any]) -> dict[str, Any]:
    if each := schema.pop("forEachWorkload", None):
        schema["properties"] = {
            one.name: {
                "description": each["description"].format(name=one.name, text=one.text),
                **each["is"],
            }
            for one in workloads.chosen(each["of"], each["family"])
        }
    if words := schema.pop("enumOfWorkloads", None):
        schema["enum"] = [*words["and"], *workloads.names(words["of"])]
    for name, field in schema.items():
        if isinstance(field, dict) and (other := field.pop("sameAs", None)):
            schema[name] = {**schema[other], **field}
    return schema


def _fill_in_sets(definitions: dict[str, Any]) -> None:
    of_sets = {name: f"set_{name}" for name in (*_OF_SETS, "tuple", "tuple_name")}

    def renamed(reference: re.Match[str]) -> str:
        name = reference[1]
        return f'"#/$defs/{of_sets.get(name, name)}"'

    for name in (*_OF_SETS, "tuple_name"):
        text = re.sub(r'"#/\$defs/(\w+)"', renamed, json.dumps(definitions[name]))
        definitions[of_sets[name]] = {"$comment": f"{name}, of sets", **json.loads(text)}
    del definitions["set_interval"]["properties"]["sensing"]
    definitions["set_tuple_name"]["description"] = (
        "A set's tuple in words: RT ST, and behind it what is not the default: TB4 PW8."
    )


def _fill_in_spaces(definitions: dict[str, Any], here: Any) -> None:
    """An axis is described in the space of its copies and nowhere else. `here`: these spaces."""
    for name, axes in (
        ("tuple", here.pipelines.AXES),
        ("small_tuple", here.small_copies.AXES),
        ("overlapping_tuple", here.overlapping_copies.AXES),
        ("set_tuple", here.set_pipelines.AXES),
        ("set_small_tuple", here.small_sets.AXES),
    ):
        definitions[name]["properties"] = {axis.field: _field(axis) for axis in axes}
        definitions[name]["required"] = [axis.field for axis in axes if axis.mark is None]
        definitions[name]["additionalProperties"] = False
    definitions["sensing"]["properties"].update({axis.field: _field(axis) for axis in probes.AXES})
    for name, axes in (
        ("tuple_name", here.pipelines.AXES),
        ("set_tuple_name", here.set_pipelines.AXES),
    ):
        pattern = "".join(axis.pattern for axis in axes).lstrip()
        definitions[name]["pattern"] = f"^{pattern}$"
    for name, axes in (
        ("small_tuple_name", here.small_copies.AXES),
        ("set_small_tuple_name", here.small_sets.AXES),
    ):
        words = (f"({'|'.join(map(str, axis.values))})" for axis in axes)
        definitions[name]["pattern"] = f"^{' '.join(words)}$"
    # those with an axis of their own, then the register type
    extensions = sorted(
        (axis for axis in here.pipelines.AXES if axis.extension),
        key=lambda axis: axis.mark is None,
    )
    explored = [*(axis.extension for axis in extensions), "sensing"]
    definitions["search"]["properties"]["axes"]["items"] = {"enum": explored}


def _field(axis: Axis) -> dict[str, Any]:
    """What the schema says of a value on the axis."""
    field: dict[str, Any] = {"description": axis.meaning}
    if axis.is_number:
        field["type"] = "integer"
    if axis.is_distance and axis.mark is None:  # evenly spaced, from 0 on
        return {**field, "minimum": 0, "maximum": axis.values[-1], "multipleOf": axis.values[1]}
    return {**field, "enum": axis.ordered}


if __name__ == "__main__":
    print(json.dumps(read_schema(Path(sys.argv[2]), sys.argv[1]), indent=1))
