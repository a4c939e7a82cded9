"""The facts of a recorded run besides its raw files."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .kernel import Used


@dataclass(frozen=True)
class Facts:
    """`seconds` and `cpu_seconds` count all processes so far. `recorded_seconds`: the CPU time of
    the recorded ones. `used`: the kernel's account. `complete`: the command had ended.
    `outlived_by`: the number of its processes that still ran then. `closed`: the folder on the way
    to the raw files that other users may not enter."""

    command: list[str]
    executable: str
    machine: dict[str, str | int]
    started: float  # seconds since 1970
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    complete: bool = False
    recorded_seconds: float | None = None  # None: all
    outlived_by: int = 0
    closed: Path | None = None
    used: Used = field(default_factory=Used)


def this_machine() -> dict[str, str | int]:
    text = ""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    brand = re.search(r"(?m)^model name\s*:(.*)", text)
    return {
        "cpu": " ".join(brand[1].split()) if brand else "unknown",
        "cpus": os.cpu_count() or 1,
        "libc": libc_name(),
    }


def libc_name() -> str:
    """The name and the version, as in "glibc 2.36"."""
    return " ".join(platform.libc_ver()).strip() or "unknown"
