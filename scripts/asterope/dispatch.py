"""Renders several machines' profiles into one C file, which chooses among them at load."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import spaces
from .faults import BadInput, one_line
from .profile import Profile, load_profile
from .render import NOTHING, Asks, parts_of, rendered, shared_parts
from .spaces.kinds import OTHERS

# The profile that runs where no other fits; ASTEROPE_PROFILE knows it by this name.
FALLBACK = "fallback"

# The longest vendor: CPUID has room for so many characters, and other architectures' are shorter.
_VENDOR_BYTES = 12


def load_profiles(paths: Sequence[str | os.PathLike]) -> dict[str, Profile]:
    """Reads the profiles to choose among: name -> profile, in the order of `paths`.

    Raises BadInput for a profile that cannot be used, and for those of different architectures. It
    also does so for profiles that cannot be told apart: by their names, which are the stems of
    their files, or by the CPU that they were tuned on.
    """
    profiles: dict[str, Profile] = {}
    named: dict[str, str | os.PathLike] = {}  # C name -> file
    tuned: dict[tuple, str | os.PathLike] = {}  # CPU -> file
    for path in paths:
        name = _name(path)
        symbol = _symbol(name)
        if path in named.values():
            raise BadInput(f"{one_line(path)}: given twice: leave one out")
        if symbol in named:
            raise BadInput(
                f"{one_line(path)}: its name in the C file, {symbol}, is that of "
                f"{one_line(named[symbol])}: rename one of the files"
            )
        named[symbol] = path
        profile = profiles[name] = load_profile(path)
        first = next(iter(profiles.values()))
        if profile.architecture != first.architecture:
            raise BadInput(
                f"{one_line(path)}: of {profile.architecture}, and {one_line(paths[0])} of "
                f"{first.architecture}: one file holds one architecture: make one of each, and "
                "compile the one that fits"
            )
        cpu = _identity(path, profile)
        if cpu in tuned:
            raise BadInput(
                f"{one_line(path)}: tuned on the same CPU as {one_line(tuned[cpu])} "
                f"({cpu[0]}, family {cpu[1]}, model {cpu[2]}, stepping {cpu[3]}): "
                "leave one out, or make one of both with asterope-tune merge"
            )
        if cpu is not None:
            tuned[cpu] = path
    return profiles


def render_dispatch(
    profiles: Mapping[str, Profile], prefix: str = "asterope", asks: Asks = NOTHING
) -> dict[str, str]:
    """The routines of these profiles and the choice among them: file name -> text."""
    routines = [_parts(name, profile, prefix, asks) for name, profile in profiles.items()]
    shared = shared_parts(routines, fallback=True)
    functions = _functions(shared["intents"], (one.name for one in shared["others"]))
    for routine in routines:
        # Its memcpy stands for an entry point that it lacks, the fallback for another operation.
        routine["lacking"] = {*functions}.difference(routine["functions"])
        routine["left"] = routine["lacking"].intersection(one.name for one in OTHERS)
    architecture = next(iter(profiles.values())).architecture
    context = {
        **shared,
        "prefix": prefix,
        "routines": routines,
        "functions_of_all": functions,
        "name_width": max(map(len, profiles)),
        "longest": max(map(len, (*profiles, FALLBACK))),
        "profiles": _listing(routines, spaces.of(architecture).TITLE),
    }
    return {
        f"{prefix}_memcpy.c": rendered(architecture, "dispatch.c.j2", context),
        f"{prefix}_memcpy.h": rendered(architecture, "routine.h.j2", context),
    }


def _name(path: str | os.PathLike) -> str:
    name = Path(path).stem
    # A plus is for names such as icelake+hbm; more would have to be quoted in C or in a shell.
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}", name):
        raise BadInput(
            f"{one_line(path)}: the profile goes by its file's name, which needs letters, digits, "
            "points, dashes, underscores and plus signs only, 63 at most, and begins with a letter "
            "or a digit: rename the file"
        )
    if name == FALLBACK:
        raise BadInput(
            f"{one_line(path)}: {FALLBACK} is the name of what runs where no profile does: "
            "rename the file"
        )
    return name


def _symbol(name: str) -> str:
    """The profile's part in the names of its functions."""
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def _identity(path: str | os.PathLike, profile: Profile) -> tuple | None:
    """Vendor, family, model and stepping of the CPU; None where the profile does not say."""
    cpu = profile.raw.get("machine", {}).get("cpu", {})
    if len(cpu.get("vendor", "")) > _VENDOR_BYTES:
        raise BadInput(
            f"{one_line(path)}: machine.cpu.vendor: longer than the {_VENDOR_BYTES} characters "
            "that a CPU has for it: correct it or run asterope-tune again"
        )
    identity = tuple(cpu.get(key) for key in ("vendor", "family", "model", "stepping"))
    return None if None in identity or identity[0].strip() == "" else identity


def _parts(name: str, profile: Profile, prefix: str, asks: Asks) -> dict[str, Any]:
    """The templates' `r` here: a profile's functions, its names and its CPU."""
    symbol = _symbol(name)
    routine = parts_of(profile, f"{prefix}_{symbol}", asks)
    for other in routine["others"]:
        other["symbol"] = symbol
    cpu = profile.raw.get("machine", {}).get("cpu", {})
    return {
        **routine,
        "name": name,
        "symbol": symbol,
        "for_whom": cpu.get("brand") or profile.source or "no machine in the profile",
        "functions": _functions(routine["intent_steps"], [o["name"] for o in routine["others"]]),
        "cpu": _cpu(
            cpu, routine["needs_of_all"], 2 ** spaces.of(profile.architecture).STEPPING_BITS
        ),
    }


def _functions(intents: Iterable[str], others: Iterable[str]) -> list[str]:
    """The functions of a file without -DASTEROPE_THREADS, without the prefix."""
    by_intent = (f"memcpy_{intent}" for intent in intents)
    return ["memcpy", *by_intent, "mempcpy", "memmove", *others]


def _cpu(cpu: Mapping[str, Any], needs: Sequence[str], no_stepping: int) -> dict[str, Any]:
    """The facts that the choice compares with the CPU. A fact that the profile leaves out fits no
    CPU."""
    vendor, family, model = (cpu.get(key) for key in ("vendor", "family", "model"))
    known = None not in (vendor, family)
    stepping = cpu.get("stepping", no_stepping)
    return {
        "vendor": vendor.strip() if vendor else "",
        "family": family if known else 0,
        "model": model if model is not None else 2**16,  # the schema ends below
        "stepping": min(stepping, no_stepping),
        "features": cpu.get("features", needs),
    }


def _listing(routines: Sequence[Mapping[str, Any]], title: str) -> list[tuple[str, str]]:
    """Names, padded, and the machine of each; `title`: the architecture's name in texts."""
    rows = [(r["name"], r["for_whom"]) for r in routines]
    rows.append((FALLBACK, f"any {title} CPU"))
    width = max(len(name) for name, _ in rows)
    return [(name.ljust(width), what) for name, what in rows]
