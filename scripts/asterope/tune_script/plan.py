"""Names the parts of a run of scripts/tune, and about how long each takes."""

from __future__ import annotations

import os
import subprocess
import time

from ..faults import one_line
from .request import Request
from .requirements import requirements

# A build takes 210 s of CPU time on a Zen 3, where this loop takes 0.036 s: their ratio estimates
# other machines.
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
    if request.has("--time-budget"):
        return "as long as it may"
    times = {"quick": "1.5 min", "exhaustive": "hours"}
    return times.get(request.values.get("--rigor", ""), "5 to 10 min")


def work(request: Request) -> list[str]:
    """The parts of the work from the build on."""
    is_built = (request.build / "asterope-tune").exists()
    build = [] if is_built else [f"builds asterope-tune ({_build_minutes()} min)"]
    profile = one_line(request.profile)
    if not request.searches:
        return [*build, f"runs asterope-tune {one_line(' '.join(request.given))}"]
    last = "compiles the routine" if request.generates else f"writes {profile}"
    if request.generates and request.has("--verbose", "--share"):
        last += " and compares it with libc (2 min)"
    if not request.retunes and os.path.exists(request.profile):
        last += f"; where {profile} still fits it does not search"
        last += ", and compares the routine with libc (2 min)" * request.generates
    return [*build, f"searches ({_search_time(request)})", last]


def dry_run(request: Request) -> list[str]:
    """The same, with the packages that are missing, and the files that are left."""
    parts = []
    missing = subprocess.check_output(request.setup_command("all_missing", "tune"), text=True)
    if missing:
        debian = " ".join(missing.splitlines())
        parts.append(f"installs with apt-get, as root or through sudo: {debian}")
    python, venv = requirements(request.root, "tune"), request.root / ".venv"
    stamp = venv / ".installed-for-tune"
    if not stamp.exists() or stamp.read_text(encoding="utf-8").splitlines() != python:
        parts.append(f"installs into {venv}: {' '.join(python)}")
    parts += work(request)
    if request.searches and request.generates:
        parts.append(
            f"leaves {one_line(request.profile)}, the routine beside it, and its libraries in "
            f"{request.libraries}"
        )
    return parts
