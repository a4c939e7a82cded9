"""Names the parts of a run of scripts/tune, and about how long each takes."""

from __future__ import annotations

import os
import time

from ..faults import one_line
from .request import Request
from .requirements import requirements
from .setup import lines_of

# The CPU time of a build on a Zen 3, and about that of a million steps of a loop. 50,000 of Bash's
# took 0.14 s; Python 3.11 takes a quarter for its own (0.022 and 0.086 s on a Granite Rapids).
_BUILD_SECONDS, _LOOP_SECONDS = 210.0, 0.036


def _build_minutes() -> int:
    started = time.process_time()
    for _ in range(1_000_000):
        pass
    loop = time.process_time() - started
    cpus = len(os.sched_getaffinity(0))
    return round(_BUILD_SECONDS * loop / _LOOP_SECONDS / cpus / 60 + 0.5)


def _search_time(request: Request) -> str:
    """Memory bounds the search, not the CPU's speed. The search itself tells the rest of its
    time."""
    words = " ".join(request.options).replace("=", " ")
    if "--time-budget" in words:
        return "as long as it may"
    rigor = words.partition("--rigor ")[2].partition(" ")[0]
    return {"quick": "1.5 min", "exhaustive": "hours"}.get(rigor, "5 to 10 min")


def _build(request: Request) -> list[str]:
    if (request.build / "asterope-tune").exists():
        return []
    return [f"builds asterope-tune ({_build_minutes()} min)"]


def work(request: Request) -> list[str]:
    """The parts of the work from the build on."""
    profile = one_line(request.profile)
    if not request.searches:
        return [*_build(request), f"runs asterope-tune {one_line(' '.join(request.given))}"]
    last = "compiles the routine" if request.generate else f"writes {profile}"
    if request.generate and (request.verbose or request.share):
        last += " and compares it with libc (2 min)"
    if not request.retune and os.path.exists(request.profile):
        last += f"; where {profile} still fits it does not search"
        last += ", and compares the routine with libc (2 min)" * request.generate
    return [*_build(request), f"searches ({_search_time(request)})", last]


def _python_packages(request: Request) -> list[str]:
    """The packages that the set-up would install into .venv."""
    wanted = requirements(request.root, "tune")
    stamp = request.root / ".venv" / ".installed-for-tune"
    there = stamp.read_text(encoding="utf-8").splitlines() if stamp.exists() else []
    return [] if there == wanted else wanted


def dry_run(request: Request) -> list[str]:
    """The same, with the packages that are missing, and the files that are left."""
    parts = []
    debian = lines_of(request.root, "all_missing", "tune")
    if debian:
        parts.append(f"installs with apt-get, as root or through sudo: {' '.join(debian)}")
    python = _python_packages(request)
    if python:
        parts.append(f"installs into {request.root / '.venv'}: {' '.join(python)}")
    parts += work(request)
    if request.searches and request.generate:
        parts.append(
            f"leaves {one_line(request.profile)}, the routine beside it, and its libraries in "
            f"{request.libraries}"
        )
    return parts
