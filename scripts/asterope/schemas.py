"""Reads the JSON schemas, and fills in the facts of other tables.

- `"forEachWorkload": {"of": COLUMN, "family": FAMILY, "description": TEXT, "is": SCHEMA}` gets a
  property for each workload of that family (missing: of any). Only workloads count whose row in the
  table of workloads has that column set, or one of several ("measured or tunable"). `{name}` and
  `{text}` in the description are the row's.
- `"enumOfWorkloads": {"of": COLUMN, "and": [WORD, ...]}` is an enumeration of words and workloads.
- `"forEachOperation": {"description": TEXT, ...}` and `"enumOfOperations": true` do the same for
  the operations.
- `"sameAs": NAME` stands for the schema of the neighbouring field of that name.

The possible copies of a profile's choices, by operation and kind, come from the spaces of the
architecture that it is read for.

Usage: python -m asterope.schemas ARCHITECTURE OUTPUT (a build step: writes the schemas of profiles
and of the headers of sample logs as a header for C++)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from . import spaces, workloads
from .spaces import kinds, probes
from .spaces.axis import Axis

PROFILE_SCHEMA = Path(__file__).with_name("profile.schema.json")
LOG_SCHEMA = Path(__file__).with_name("sample_log.schema.json")


def log_schema(architecture: str) -> dict[str, Any]:
    """That of sample logs' headers, and of it all that stands in the profile's.

    One schema of both: a registry of schemas is not in all versions of jsonschema.
    """
    profile = read_schema(PROFILE_SCHEMA, architecture)
    log = json.dumps(read_schema(LOG_SCHEMA, architecture))
    text = log.replace(profile["$id"] + "#", "#")
    return {**json.loads(text), "$defs": profile["$defs"]}


def read_schema(path: Path, architecture: str) -> dict[str, Any]:
    """The schema with all workloads filled in. Schemas of profiles and sample logs get their
    architecture, that of profiles all axes of its copies.
    """
    whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), object_hook=_filled)
    if "architecture" in whole["properties"]:
        whole["properties"]["architecture"]["const"] = architecture
    if "choice" in whole.get("$defs", {}):
        _fill_in_spaces(whole["$defs"], spaces.of(architecture))
    return whole


def _filled(schema: dict[str, Any]) -> dict[str, Any]:
    if each := schema.pop("forEachWorkload", None):
        schema["properties"] = {
            one.name: {
                "description": each["description"].format(name=one.name, text=one.text),
                **each["is"],
            }
            for family in ([each["family"]] if "family" in each else workloads.FAMILIES)
            for one in workloads.chosen(each["of"], family)
        }
    if words := schema.pop("enumOfWorkloads", None):
        schema["enum"] = [*words["and"], *workloads.names(words["of"])]
    operations = [one.name for one in kinds.OPERATIONS]
    if each := schema.pop("forEachOperation", None):
        schema["properties"] = {
            one: {**each, "description": each["description"].format(name=one)} for one in operations
        }
    if schema.pop("enumOfOperations", False):
        schema["enum"] = operations
    for name, field in schema.items():
        if isinstance(field, dict) and (other := field.pop("sameAs", None)):
            schema[name] = {**schema[other], **field}
    return schema


def _fill_in_spaces(definitions: dict[str, Any], here: Any) -> None:
    """An axis is described in the space of its copies and nowhere else. `here`: these spaces."""
    rules = definitions["choice"]["allOf"] = []
    columns = definitions["choice"]["properties"]
    chosen = [one for one in kinds.KINDS if one.chosen]
    columns["kind"]["enum"] = list(dict.fromkeys(one.name for one in chosen))
    for (operation, name), kind in kinds.kinds_of(here).items():
        definition = f"{operation}_{name}"
        definitions[definition] = _tuple(definition, kind.AXES)
        copy = {"$ref": f"#/$defs/{definition}"}
        copies = {"taken": copy}
        space = kinds.probes_of(here, operation)
        if name == kinds.SENSING and space is not None:
            definitions[f"{operation}_probe"] = _tuple(f"{operation}_probe", space.AXES)
            probe = {"$ref": f"#/$defs/{operation}_probe"}
            copies |= {"probe": probe, "threshold": True}
            copies |= dict.fromkeys((*probes.WAYS, "plain"), copy)
        rules.append(_rule({"operation": operation, "kind": name}, copies, copy))
    share = {"$ref": "#/$defs/share"}
    rules.append(_rule({"kind": "threads"}, {"taken": share}, share))
    stage = {"$ref": "#/$defs/page_stage"}
    rules.append(_rule({"kind": "fresh"}, {"taken": stage}, stage))
    # those with an axis of their own, then the register type
    extensions = sorted(
        (axis for axis in here.pipelines.AXES if axis.extension),
        key=lambda axis: axis.mark is None,
    )
    explored = [*(axis.extension for axis in extensions), "sensing"]
    axes = definitions["search"]["properties"]["axes"]
    axes |= {"items": {"enum": explored}, "maxItems": len(explored)}


def _rule(columns: dict[str, str], copies: dict[str, Any], runner_up: dict[str, Any]) -> Any:
    """The possible copies of choices with these columns."""
    return {
        "if": {"properties": {name: {"const": value} for name, value in columns.items()}},
        "then": {
            "properties": {
                "copies": {"properties": copies, "additionalProperties": False},
                "evidence": {
                    "properties": {"runners_up": {"items": {"properties": {"tuple": runner_up}}}}
                },
            }
        },
    }


def _tuple(name: str, axes: tuple[Axis, ...]) -> dict[str, Any]:
    """The schema of the copies with these axes."""
    return {
        "title": name.replace("_", " ").capitalize(),
        "description": "Not every combination exists.",
        "type": "object",
        "required": [axis.field for axis in axes if axis.mark is None],
        "additionalProperties": False,
        "properties": {axis.field: _field(axis) for axis in axes},
    }


def _field(axis: Axis) -> dict[str, Any]:
    """The schema of a value on the axis."""
    field: dict[str, Any] = {"description": axis.meaning}
    if axis.is_number:
        field["type"] = "integer"
    if axis.is_distance and axis.mark is None:  # evenly spaced, from 0 on
        return {**field, "minimum": 0, "maximum": axis.values[-1], "multipleOf": axis.values[1]}
    return {**field, "enum": axis.ordered}


def _header(architecture: str) -> str:
    """For C++: the schema of profiles, and as `log` in it that of sample logs' headers."""
    whole = read_schema(PROFILE_SCHEMA, architecture)
    log = log_schema(architecture)
    del log["$defs"]
    text = json.dumps({**_bare(whole), "log": _bare(log)}, separators=(",", ":"))
    lines = "\n".join(f'    R"json({text[i : i + 80]})json"' for i in range(0, len(text), 80))
    return f"""\
// What profiles and headers of sample logs may hold; written by scripts/asterope/schemas.py.
#pragma once

namespace asterope {{

inline constexpr char kSchemaText[] =
{lines};

}} // namespace asterope
"""


def _bare(schema: Any, names: bool = False) -> Any:
    """The schema without its texts for people. `names`: its keys are names of fields, not rules."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    groups = ("properties", "patternProperties", "$defs")
    return {
        key: _bare(value, not names and key in groups)
        for key, value in schema.items()
        if names or key not in ("title", "description")
    }


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(_header(sys.argv[1]), encoding="ascii")
