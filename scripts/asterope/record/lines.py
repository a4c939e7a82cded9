"""Tells several calls of one function apart: by file and line of the source, else by the offset."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import PurePosixPath

from ..faults import one_line

_Site = tuple[str, int]  # the file of the code, and the offset of the return address in it
_PATIENCE = 20.0  # seconds for the debug information of a file, which may have gigabytes


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
    tool = shutil.which("addr2line")
    if tool is None or not sites:
        return {}
    try:  # not imported above: all else works without pyelftools
        from .symbols import addresses_of
    except ModuleNotFoundError:
        return {}
    found: dict[_Site, str] = {}
    for module in {module for module, _ in sites if module.startswith("/")}:
        addresses = addresses_of(module, sorted(at for own, at in sites if own == module))
        for offset, line in zip(addresses, _ask(tool, module, list(addresses.values()))):
            if line:
                found[module, offset] = line
    return found


def _ask(tool: str, module: str, addresses: Sequence[int]) -> list[str]:
    """A source line for each address, empty if it is not known."""
    if not addresses:
        return []
    try:
        done = subprocess.run(
            [tool, "-e", module, *map(hex, addresses)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = []
    for text in done.stdout.splitlines():
        place = re.match(r"(.*):([1-9][0-9]*)(?: \(discriminator [0-9]+\))?$", text)
        lines.append(f"{PurePosixPath(one_line(place[1])).name}:{place[2]}" if place else "")
    return lines if len(lines) == len(addresses) else []
