"""Reads the JSON schemas, in which fields that exist for each workload stand once.

Where a schema says `"forEachWorkload": {"of": COLUMN, "family": FAMILY, "description": TEXT, "is":
SCHEMA}`, it gets a property for each workload of that family whose row in the table of workloads
has that column set. `{name}` and `{text}` in the description are the row's. And `"enumOfWorkloads":
{"of": COLUMN, "and": [WORD, ...]}` is an enumeration of words and workloads.

Usage: python -m asterope.schemas SCHEMA (a build step: prints it, filled, for C++)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from . import workloads


def read_schema(path: Path) -> dict[str, Any]:
    """The schema with all workloads filled in."""
    return json.loads(path.read_text(encoding="utf-8"), object_hook=_filled)


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
    return schema


if __name__ == "__main__":
    print(json.dumps(read_schema(Path(sys.argv[1])), indent=1))
