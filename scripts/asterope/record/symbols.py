"""The symbols of files: the functions and lines that code addresses lie in, and the names that a
file has. Without pyelftools no file tells any."""

from __future__ import annotations

import itertools
import os
import re
import struct
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from ..faults import one_line

try:
    from elftools.common.exceptions import ELFError
    from elftools.construct import ConstructError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import NoteSection, StringTableSection

    CAN_READ = True
except ModuleNotFoundError:
    CAN_READ = False

# More than a browser's symbol table has. A larger one is not read.
MAXIMUM_TABLE = 512 << 20

DEBUG_FOLDER = Path("/usr/lib/debug/.build-id")

_FUNCTION, _IFUNC = 2, 10  # STT_FUNC, STT_GNU_IFUNC
_WEAK = 2  # STB_WEAK
Site = tuple[str, int]  # a return address: the file of the code, and the offset in it
_SYMBOL = struct.Struct("<IBBHQQ")  # place of its name, type and binding, -, section, begin, size
_Answer = TypeVar("_Answer")
_PATIENCE = 20.0  # seconds for the debug information of a file, which may have gigabytes


def name_functions(sites: Sequence[Site]) -> list[str]:
    """The name of the calling function at each site. c++filt demangles it, if installed. A name is
    empty if the file has none there or cannot be read."""
    found = {
        (module, offset): one_line(name)
        for module, offsets in _by_file(sites)
        for offset, name in _asked(module, {}, _names_in, offsets).items()
    }
    return _demangled([found.get(site, "") for site in sites])


def told_apart(sites: Sequence[Site], names: Sequence[str]) -> list[str]:
    """The names of the sites. If several sites of a file share one, each has its line or offset in
    front."""
    same: dict[tuple[str, str], set[Site]] = {}
    for site, name in zip(sites, names):
        same.setdefault((site[0], name), set()).add(site)
    alike = {key: own for key, own in same.items() if key[1] and len(own) > 1}
    lines = _lines_of({site for own in alike.values() for site in own})
    told = []
    for site, name in zip(sites, names):
        if own := alike.get((site[0], name)):
            known = {lines[one] for one in own if one in lines}
            mark = lines[site] if len(known) == len(own) else f"{site[1]:#x}"
            name = f"{mark} {name}"
        told.append(name)
    return told


def _lines_of(sites: Iterable[Site]) -> dict[Site, str]:
    """The source line of each site, as in "copy.c:12", if its file tells."""
    found: dict[Site, str] = {}
    for module, offsets in _by_file(sites):
        addresses = _asked(module, {}, _addresses_in, offsets)
        lines = _lines_of_tool(["addr2line", "-e", module, *map(hex, addresses.values())])
        for offset, line in zip(addresses, lines if len(lines) > len(addresses) else ()):
            place = re.match(r"(.*):([1-9][0-9]*)(?: \(discriminator [0-9]+\))?$", line)
            if place:
                found[module, offset] = f"{PurePosixPath(one_line(place[1])).name}:{place[2]}"
    return found


def _by_file(sites: Iterable[Site]) -> Iterator[tuple[str, list[int]]]:
    """The offsets in each file, ascending."""
    files = itertools.groupby(sorted(set(sites)), key=lambda site: site[0])
    for module, of_file in files:
        if module.startswith("/"):
            yield module, [offset for _, offset in of_file]


def build_id_of(module: str) -> str:
    """In hexadecimal digits; empty if the file has none or cannot be read."""
    return _asked(module, "", _build_id) if module.startswith("/") else ""


def symbols_of(path: str, wanted: Sequence[str]) -> dict[str, bool]:
    """Those of the names that the file has: True if it defines the name, False if it needs it.
    Empty if it cannot be read."""
    return _asked(path, {}, _symbols_in, wanted)


def _asked(path: str, otherwise: _Answer, ask: Callable[..., _Answer], *words: Any) -> _Answer:
    """The answer of `ask` about a file; `otherwise` if the file cannot be read."""
    try:
        if not CAN_READ or not Path(path).is_file():  # reading a device or a pipe may never end
            return otherwise
        with open(path, "rb") as file:
            return ask(ELFFile(file), *words)
    except (OSError, ELFError, ConstructError, ValueError, struct.error, KeyError):
        return otherwise


def _names_in(elf: ELFFile, offsets: Sequence[int]) -> dict[int, str]:
    """The function of each offset, by the file's own symbols, or those that are shipped apart."""
    addresses = _addresses_in(elf, offsets)
    wanted = set(addresses.values())
    names = _look_up(elf, wanted)
    build = _build_id(elf) if len(names) < len(wanted) else ""
    separate = DEBUG_FOLDER / build[:2] / f"{build[2:]}.debug"
    if build.isalnum() and separate.is_file():
        with separate.open("rb") as file:
            names |= _look_up(ELFFile(file), wanted)
    return {offset: names[at] for offset, at in addresses.items() if at in names}


def _addresses_in(elf: ELFFile, offsets: Sequence[int]) -> dict[int, int]:
    """The addresses of calls, by the offsets of their return addresses."""
    segments = [
        (segment["p_offset"], segment["p_filesz"], segment["p_vaddr"])
        for segment in elf.iter_segments("PT_LOAD")
    ]
    found = {}
    for offset in offsets:
        for begin, size, address in segments:
            # the byte before the return address: a call may be its function's last instruction
            if begin <= offset - 1 < begin + size:
                found.setdefault(offset, offset - 1 - begin + address)
    return found


def _build_id(elf: ELFFile) -> str:
    for section in elf.iter_sections():
        if isinstance(section, NoteSection):
            for note in section.iter_notes():
                if note["n_type"] == "NT_GNU_BUILD_ID":
                    return note["n_desc"]
    return ""


def _symbols_in(elf: ELFFile, wanted: Sequence[str]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for symbols, strings in _tables(elf):
        names = {
            match.start(): name  # a linker stores a short name as the end of a long one
            for name in wanted
            for match in re.finditer(re.escape(name.encode()) + b"\0", strings.data())
        }
        for at, info, _, section, *_ in symbols if names else ():
            if at in names and (section or info >> 4 != _WEAK):
                found[names[at]] = found.get(names[at], False) or bool(section)
    return found


def _look_up(elf: ELFFile, addresses: set[int]) -> dict[int, str]:
    """The function of each address. Of several that hold it, it is the one that begins last."""
    best: dict[int, tuple[int, str]] = {}
    ordered = sorted(addresses)
    if not ordered:
        return {}
    for symbols, strings in _tables(elf):
        hits: dict[int, tuple[int, int]] = {}  # address: begin, place of the name
        for name, info, _, index, begin, size in symbols:
            if info & 15 not in (_FUNCTION, _IFUNC) or not index or not size:
                continue
            if begin > ordered[-1] or begin + size <= ordered[0]:
                continue
            for address in ordered:
                if begin <= address < begin + size and begin >= hits.get(address, (0, 0))[0]:
                    hits[address] = begin, name
        for address, (begin, name) in hits.items():
            if address not in best or begin > best[address][0]:
                best[address] = begin, strings.get_string(name)
    return {address: name for address, (_, name) in best.items() if name}


def _tables(elf: ELFFile) -> Iterator[tuple[Iterator[tuple], StringTableSection]]:
    """The symbols and their names. They are read as plain numbers: a table may have a million
    entries, and pyelftools takes a minute for these. All programs here are of 64 bits."""
    for table in (".symtab", ".dynsym") if elf.elfclass == 64 and elf.little_endian else ():
        section = elf.get_section_by_name(table)
        if section is None or section["sh_type"] == "SHT_NOBITS":
            continue
        if section["sh_size"] > MAXIMUM_TABLE:
            continue
        data = section.data()
        strings = elf.get_section(section["sh_link"])
        if isinstance(strings, StringTableSection):
            yield _SYMBOL.iter_unpack(data[: len(data) - len(data) % _SYMBOL.size]), strings


def _demangled(names: list[str]) -> list[str]:
    if not any(name.startswith(("_Z", "_R")) for name in names):
        return names
    lines = _lines_of_tool(["c++filt", "--no-params"], "\n".join(names))
    # Rust has names such as "crate[9a1f]::name". A reader has no use for the checksum.
    lines = [re.sub(r"(?<=\w)\[[0-9a-f]+\](?=::)", "", line) for line in lines]
    return lines[: len(names)] if len(lines) >= len(names) else names


def _lines_of_tool(command: Sequence[str], given: str = "") -> list[str]:
    """Its answer to the text, and "" behind the last line's end. No lines if the tool is not
    installed or fails."""
    as_text = {"capture_output": True, "text": True, "errors": "replace"}
    its = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, input=given, timeout=_PATIENCE, env=its, **as_text)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [] if done.returncode else done.stdout.split("\n")
