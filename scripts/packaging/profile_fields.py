"""Writes the fields of a profile into the guide profile.md, between its two marks.

The schema is the only place where a field is described: a test compares the guide with that.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from asterope import workloads
from asterope.figures import bytes_text
from asterope.profile import schema
from asterope.spaces import kinds

BEGIN = "<!-- from profile.schema.json, by scripts/packaging/profile_fields.py -->\n"
END = "<!-- end of what comes from profile.schema.json -->\n"
WIDTH = 120
TABLE = "|field|what it is|\n|---|---|"
# The examples of a guide are of one architecture.
ARCHITECTURE = "x86_64"

# The column of the workloads that profiles have figures of.
COLUMN = "measured or tunable"

# Sections of copies, by their definition in the schema. Definitions that have the fields of
# one of these need no section of their own.
TUPLES = {
    "memcpy_pipelines": "Tuple",
    "memset_pipelines": "Set tuple",
    "memcpy_small": "Small tuple",
    "memcpy_overlapping": "Overlapping tuple",
    "memcpy_probe": "Probe",
    "memset_probe": "Set probe",
}


def row(name: str, text: str) -> str:
    """A row of a table in Markdown; several names of one row have commas between them."""
    return f"|{', '.join(f'`{one}`' for one in name.split(', '))}|{text}|"


def reference(field: Mapping[str, Any], sections: Mapping[str, str]) -> str:
    """A link to the section of the field's content; empty without such a section."""
    target = field.get("$ref", "").rpartition("/")[2]
    if target not in sections:
        return ""
    title = sections[target]
    return f"[{title}](#{title.lower().replace(' ', '-')})"


def values(field: Mapping[str, Any]) -> str:
    """The values that the field may have; empty where its description has them, or any will do."""
    if "const" in field:
        return f" Always `{field['const']}`."
    if "multipleOf" in field:
        step, most = field["multipleOf"], field["maximum"]
        return f" Values: `{field['minimum']}`, `{field['minimum'] + step}`, ... `{most}`."
    words = [str(word) for word in field.get("enum", [])]
    if set(words) <= set(re.findall(r"\w+", field["description"])):
        return ""
    shown = [f"`{word}`" for word in words if word not in workloads.TEXTS]
    named = [f"`{word}`" for word in words if word in workloads.TEXTS]
    shown += named if len(named) < 4 else ["a [workload](#workloads)"]
    return f" Values: {', '.join(shown)}."


def fields(
    owner: Mapping[str, Any], sections: Mapping[str, str], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Name and text of each field, those of nested objects and lists behind the field itself."""
    for name, field in owner.get("properties", {}).items():
        text = field["description"] + values(field)
        names = set(field.get("properties", {}))
        each = reference(next(iter(field["properties"].values())), sections) if names else ""
        if names == {one.name for one in kinds.OPERATIONS}:
            yield prefix + name, f"{text} {each or 'One'} for each operation."
        elif names and names <= set(workloads.TEXTS):
            yield prefix + name, f"{text} {each} by [workload](#workloads)."
        else:
            inner = field.get("items", {})
            link, of_each = reference(field, sections), reference(inner, sections)
            text += f" {link}." if link else f" List of {of_each}." if of_each else ""
            yield prefix + name, text
            yield from fields(field, sections, f"{prefix}{name}.")
            yield from fields(inner, sections, f"{prefix}{name}[].")


def measured_workloads() -> Iterator[tuple[str, str]]:
    """Name and text of each workload in profiles, with the sizes that they are limited to.

    A workload that only adds the reading of the copy shares the row of the other one.
    """
    every = [one for name in workloads.FAMILIES for one in workloads.chosen(COLUMN, name)]
    adds_reading = {
        one.name
        for one in every
        if one.text.startswith(f"as {one.name.removesuffix('_read')}, and each copy is read")
    }
    for one in every:
        if one.name in adds_reading:
            continue
        names = ", ".join([one.name, *({f"{one.name}_read"} & adds_reading)])
        ends = [f"from {bytes_text(one.from_bytes)}"] if one.from_bytes else []
        ends += [f"up to {bytes_text(one.to_bytes)}"] if one.to_bytes else []
        text = one.text.replace(" (timed along)", "")
        yield names, "; ".join([text, " ".join(ends)] if ends else [text]) + "."


def sections_of(whole: Mapping[str, Any]) -> dict[str, str]:
    """The title of each definition that has a section of its own."""
    titles = {name: one.get("title") for name, one in whole["$defs"].items()}
    titles |= {name: TUPLES.get(name) for name in titles if name.startswith(("memcpy_", "memset_"))}
    return {name: title for name, title in titles.items() if title}


def section(title: str, text: str, rows: Iterable[tuple[str, str]]) -> str:
    head = [f"### {title}", *([textwrap.fill(text, WIDTH)] if text else [])]
    return "\n\n".join([*head, "\n".join([TABLE, *(row(*one) for one in rows)])]) + "\n"


def fields_text() -> str:
    """All sections, one for each kind of object, the whole profile first."""
    whole = schema(ARCHITECTURE)
    sections = sections_of(whole)
    about = (
        "Objects with a field for each workload use these names. Under NAME_read each copy is read "
        "at once. These reads are timed, and so are look-ups before a copy."
    )
    out = [section("Profile", "", fields(whole, sections))]
    out += [section("Workloads", about, measured_workloads())]
    for name, title in sections.items():
        definition = whole["$defs"][name]
        text = "" if name in TUPLES else definition["description"]
        out.append(section(title, text, fields(definition, sections)))
    return "\n".join(out)


def with_fields(guide: str) -> str:
    """The guide with the fields of the schema between its marks."""
    before, begin, rest = guide.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit("profile_fields.py: the guide lacks the marks between which fields stand")
    return f"{before}{BEGIN}\n{fields_text()}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("guide", type=Path)
    guide = parser.parse_args().guide
    guide.write_text(with_fields(guide.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
