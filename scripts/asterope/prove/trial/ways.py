"""The ways that copies take in a trial: libc, the routine, its entry points, the routines of a
profile's runners-up, other libraries."""

from __future__ import annotations

import argparse
import copy
import json
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from ...faults import BadInput, one_line
from ...preload import compile_routine
from ...profile import load_profile
from ...record.launching import forgiving
from ...render import ENTRIES, FRESH, render_routine
from ...spaces.fresh import LEAST_BYTES
from .. import programs
from .blocks import LIBC, LIBC_AGAIN, ROUTINE

MOST_WAYS = 16
MAP = "map"  # the library that has a map of places
_NONE = "-"
RANKS = ("second", "third", "fourth")  # runners-up of a race, and the ways that take them


@dataclass(frozen=True)
class Way:
    """The functions of a library; "-" stands for a missing symbol. `is_whole`: all places take it
    together or not at all, as it has a map of ways by place itself. `least`: it differs from the
    routine from so many bytes on."""

    name: str
    library: Path
    copy: str
    set: str = _NONE
    is_whole: bool = False
    least: int = 0

    @property
    def row(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "library": str(self.library)}

    @property
    def line(self) -> str:
        """As the recorder library reads it."""
        return f"{'=' * self.is_whole}{self.copy} {self.set} {self.least} {self.library}"


def names_of(ways: Iterable[Way]) -> list[str]:
    """The names of all ways, in the order of their numbers in the file."""
    return [LIBC, LIBC_AGAIN, *(way.name for way in ways)]


def ways_for(arguments: argparse.Namespace) -> list[Way]:
    """Returns the ways, the routine first. Raises BadInput, Failure and OSError."""
    own = None if arguments.name is None else programs.folder_of(arguments.name)
    routine = find_routine(arguments.routine, own)
    ways = [*ways_of_routine(routine), *map(parse_way, arguments.copy or ())]
    if arguments.finalists:
        ways += ways_of_finalists(programs.profile_of(arguments.name or ""))
    check_ways(ways)
    return ways


def find_routine(named: str | None, own: Path | None) -> Path:
    """Finds the routine's library: the named one, else the program's own, else the one that serves
    all programs. Raises BadInput, Failure and OSError."""
    if named is not None:
        return _existing(named)
    if own is not None and (own / programs.ROUTINE).is_file():
        return (own / programs.ROUTINE).resolve()
    general = programs.libraries()
    for library in (general / programs.ROUTINE, general / programs.PRELOAD):
        if library.is_file():
            return library.resolve()
    raise BadInput(
        "there is no routine to try: build one with scripts/tune, or name its library "
        "with --routine"
    )


def ways_of_routine(library: Path) -> list[Way]:
    """Returns the routine, and its entry points if it has any. Raises BadInput."""
    symbols = _exported(library)
    prefix = _prefix_in(symbols)
    if f"{prefix}memcpy" not in symbols:
        raise BadInput(f"{one_line(library)}: has neither asterope_memcpy nor memcpy: name another")
    ways = []
    for name, end in [(ROUTINE, ""), *((entry, f"_{entry}") for entry in ENTRIES if prefix)]:
        copies, sets = f"{prefix}memcpy{end}", _known(f"{prefix}memset{end}", symbols)
        if copies in symbols:
            least = LEAST_BYTES if name == FRESH else 0
            ways.append(Way(name, library, copies, sets, least=least))
    return ways


def way_of_map(library: Path) -> Way:
    """Returns the way that is a whole library for LD_PRELOAD, with its map."""
    return Way(MAP, library, "memcpy", _known("memset", _exported(library)), is_whole=True)


def ways_of_finalists(profile: Path) -> list[Way]:
    """Their libraries lie among this process's temporary files. Raises BadInput, Failure and
    OSError."""
    raw = load_profile(profile).raw
    ways = []
    for rank, name in enumerate(RANKS):
        changed = _of_rank(raw, rank)
        if changed is None:
            break
        routine = render_routine(load_profile(profile, json.dumps(changed).encode()))
        library = Path(tempfile.mkdtemp()) / f"{name}.so"
        library.write_bytes(compile_routine(routine))
        ways.append(Way(name, library, "asterope_memcpy"))
    if not ways:
        raise BadInput(f"{one_line(profile)}: names no runners-up: tune again")
    return ways


def _of_rank(raw: Any, rank: int) -> Any:
    """The profile as if the runner-up of this rank had won each race; None: no race has one. It
    changes the pipelines of memcpy for the balanced objective."""
    changed, found = copy.deepcopy(raw), False
    for choice in changed["choices"]:
        of = (choice["operation"], choice["kind"], choice.get("intent"))
        runners_up = choice.get("evidence", {}).get("runners_up", ())
        if of == ("memcpy", "pipelines", None) and rank < len(runners_up):
            found = True
            choice["copies"] = {"taken": runners_up[rank]["tuple"]}
            del choice["evidence"]
    return changed if found else None


def parse_way(text: str) -> Way:
    """NAME=SO[:SYMBOL]. Raises BadInput."""
    name, equals, rest = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z][\w.+-]{0,29}", name):
        raise BadInput(
            f"--copy {one_line(text)[:80]}: write NAME=LIBRARY.so or NAME=LIBRARY.so:SYMBOL"
        )
    if name in (LIBC, ROUTINE, MAP, *ENTRIES, *RANKS):
        raise BadInput(f"--copy: {name} is a way already: choose another name")
    path, colon, symbol = rest.rpartition(":")
    if not colon or "/" in symbol:
        path, symbol = rest, ""
    if symbol and not re.fullmatch(r"\w{1,200}", symbol):
        raise BadInput(f"--copy {name}: {one_line(symbol)[:40]} is not a symbol")
    library = _existing(path)
    symbols, sets = _exported(library), _NONE
    if not symbol:
        prefix = _prefix_in(symbols)
        symbol, sets = f"{prefix}memcpy", f"{prefix}memset"
    if symbol not in symbols:
        raise BadInput(
            f"--copy {name}: {one_line(library)} has no function {symbol}: name another "
            f"with {name}={one_line(path)}:SYMBOL"
        )
    return Way(name, library, symbol, _known(sets, symbols))


def check_ways(ways: Sequence[Way]) -> None:
    """Raises BadInput."""
    names = [way.name for way in ways]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"--copy: {name} is named twice")
    if len(ways) + 2 > MOST_WAYS:
        raise BadInput(f"--copy: more than {MOST_WAYS} ways in all")


def _existing(path: str) -> Path:
    library = Path(path)
    if not library.is_file():
        raise BadInput(f"{one_line(path)}: no such library")
    if "\n" in str(library.resolve()):
        raise BadInput(f"{one_line(path)}: a path with a line break cannot be handed on")
    return library.resolve()


def _prefix_in(symbols: Collection[str]) -> str:
    """The prefix of a library's memcpy; empty: a preload library has none."""
    return "asterope_" if "asterope_memcpy" in symbols else ""


def _known(symbol: str, symbols: Collection[str]) -> str:
    return symbol if symbol in symbols else _NONE


def _exported(library: Path) -> set[str]:
    try:
        with library.open("rb") as file:
            table = ELFFile(file).get_section_by_name(".dynsym")
            return {
                symbol.name
                for symbol in (table.iter_symbols() if table else ())
                if symbol["st_shndx"] != "SHN_UNDEF"
            }
    except (ELFError, OSError, ValueError):
        raise BadInput(f"{one_line(library)}: is not a shared object that can be read") from None


def environment(
    recorder: Path, folder: Path, ways: Iterable[Way], explore: int | None = None
) -> dict[str, str]:
    """The environment of a program in a trial: this process's without ASTEROPE_*. LD_PRELOAD is the
    recorder alone. `explore`: one of so many pairs of periods is a trial; None: all are."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("ASTEROPE_")},
        **forgiving(),
        "LD_PRELOAD": str(recorder),
        "ASTEROPE_RECORD": str(folder),
        "ASTEROPE_TRIAL": "\n".join(way.line for way in ways),
        **({} if explore is None else {"ASTEROPE_EXPLORE": str(explore)}),
    }
