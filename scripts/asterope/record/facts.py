"""What is known of a recorded run besides its raw files, kept with them as session.json."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from .recorder import Calibration

FILE_NAME = "session.json"


@dataclass(frozen=True)
class Machine:
    cpu: str
    cpus: int
    libc: str


@dataclass(frozen=True)
class Facts:
    """`seconds`, `cpu_seconds`: of all processes, what is known so far; `complete`: the command had
    ended by then."""

    command: list[str]
    executable: str
    machine: Machine
    calibration: Calibration
    started: float  # seconds since 1970
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    complete: bool = False


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
    """Raises OSError; ValueError where the file is none that facts_text() made."""
    try:
        raw = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        return Facts(
            **{
                **raw,
                "machine": Machine(**raw["machine"]),
                "calibration": Calibration(**raw["calibration"]),
            }
        )
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(f"{FILE_NAME} is damaged") from None
