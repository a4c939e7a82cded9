"""places.json: which way is best at which place, as the trial writes it and generate reads it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from ... import __version__
from .blocks import LIBC, ROUTINE
from .findings import Found

FORMAT, VERSION = "asterope-places", 1
# Ways that a generated library has by itself.
WAYS = (LIBC, "hot", "cold", "consume")
_MOST = 512
_FUNCTIONS = ("memcpy", "memmove", "mempcpy", "memset")


@dataclass(frozen=True)
class Choice:
    """`build_id`: of the module, in hexadecimal."""

    build_id: str
    offset: int
    function: str
    least: int
    way: str


def places_text(found: Found) -> str:
    """Of the places where some way is surely better than the routine, and whose module has a build
    id by which it is known again."""
    places = []
    for one in found.places:
        if one.best in WAYS and one.best != ROUTINE and one.place.is_own:
            build_id = build_id_of(Path(one.place.module))
            if build_id:
                places.append(
                    {
                        "module": one.place.module,
                        "build_id": build_id,
                        "offset": one.place.offset,
                        "function": one.place.function,
                        "least": one.place.least,
                        "way": one.best,
                    }
                )
    whole = {"format": FORMAT, "version": VERSION, "tool_version": __version__, "places": places}
    return json.dumps(whole, indent=1) + "\n"


def build_id_of(module: Path) -> str:
    """Empty where it has none that can be read."""
    try:
        with module.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if isinstance(section, NoteSection):
                    for note in section.iter_notes():
                        if note["n_type"] == "NT_GNU_BUILD_ID":
                            return str(note["n_desc"])
    except (OSError, ELFError, ValueError):
        pass
    return ""
