"""Tells several calls of one function apart: by file and line of the source, else by the offset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from ..faults import one_line

_Site = tuple[str, int]  # the file of the code, and the offset of the return address in it


def told_apart(sites: Sequence[_Site], names: Sequence[str]) -> list[str]:
    """The names. If several sites of a file share one, each has its line or offset in front."""
    same: dict[tuple[str, str], set[_Site]] = {}
    for site, name in zip(sites, names):
        same.setdefault((site[0], name), set()).add(site)
    several = {
        site for (_, name), found in same.items() if name and len(found) > 1 for site in found
    }
    lines = _lines_of(several)
    told = []
    for site, name in zip(sites, names):
        if site in several:
            others = same[site[0], name]
            known = {lines[one] for one in others if lines.get(one)}
            mark = lines[site] if len(known) == len(others) else f"{site[1]:#x}"
            name = f"{mark} {name}"
        told.append(name)
    return told


def _lines_of(sites: set[_Site]) -> dict[_Site, str]:
    """The source line of each site, as in "copy.c:12", if its file tells."""
    if not sites:
        return {}
    try:  # not imported above: all else works without pyelftools
        from .symbols import addresses_of, lines_of_tool
    except ModuleNotFoundError:
        return {}
    found: dict[_Site, str] = {}
    for module in {module for module, _ in sites if module.startswith("/")}:
        addresses = addresses_of(module, sorted(at for own, at in sites if own == module))
        lines = lines_of_tool(["addr2line", "-e", module, *map(hex, addresses.values())])
        for offset, line in zip(addresses, lines if len(lines) > len(addresses) else ()):
            place = re.match(r"(.*):([1-9][0-9]*)(?: \(discriminator [0-9]+\))?$", line)
            if place:
                found[module, offset] = f"{PurePosixPath(one_line(place[1])).name}:{place[2]}"
    return found
