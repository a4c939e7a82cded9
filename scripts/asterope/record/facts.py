"""What is known of a recorded run besides its raw files, kept with them as session.json."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from ..profile.faults import Fault, path_text
from .reading import RECORDING, REMEDY, parse, refuse_what_breaks

FILE_NAME = "session.json"

_SCHEMA_FILE = Path(__file__).resolve().parents[1] / "session.schema.json"
_KIND = dataclasses.replace(RECORDING, noun="session", described="a session")


@dataclass(frozen=True)
class Machine:
    cpu: str
    cpus: int
    libc: str


@dataclass(frozen=True)
class Facts:
    """`seconds`, `cpu_seconds`: of all processes, what is known so far; `recorded_seconds`: CPU
    time of those that were recorded; `complete`: the command had ended by then; `outlived_by`: how
    many of its processes still ran then."""

    command: list[str]
    executable: str
    machine: Machine
    started: float  # seconds since 1970
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    complete: bool = False
    recorded_seconds: float | None = None  # None: all
    outlived_by: int = 0


def this_machine() -> Machine:
    brand = "unknown"
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                brand = " ".join(value.split())
                break
    except OSError:
        pass
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    except (ValueError, OSError):
        libc = "unknown"
    return Machine(brand, os.cpu_count() or 1, libc)


def facts_text(facts: Facts) -> str:
    return json.dumps(asdict(facts), indent=1)


def read_facts(folder: Path) -> Facts:
    """Raises OSError; ValueError, whose text is one line, where the file is none that facts_text()
    made."""
    try:
        raw = parse((folder / FILE_NAME).read_bytes(), _KIND)
        refuse_what_breaks(_SCHEMA_FILE, raw, REMEDY)
    except Fault as fault:
        place = f": {path_text(fault.place)}" if fault.place else ""
        raise ValueError(f"{FILE_NAME} is damaged{place}: {fault}") from None
    return Facts(**{**raw, "machine": Machine(**raw["machine"])})
