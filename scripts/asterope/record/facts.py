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
    """`seconds`, `cpu_seconds`: of all processes, what is known so far; `recorded_seconds`: CPU
    time of those that were recorded; `used`: by those in the kernel's account; `complete`: the
    command had ended by then; `outlived_by`: how many of its processes still ran then; `closed`:
    the folder that processes of other users may not enter, to make files below it."""

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
    """As in "glibc 2.36"."""
    return " ".join(platform.libc_ver()).strip() or "unknown"
