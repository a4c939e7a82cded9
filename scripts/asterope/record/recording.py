"""Makes the recording, a JSON document, of a pool. recording.schema.json describes it."""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .. import __version__
from ..command_line import to_install
from ..faults import one_line
from ..figures import counted
from ..text_file import open_to_read
from .kernel import Used
from .others import others_of, warnings_of
from .pool import Pool
from .recorder import TO_OPEN
from .symbols import CAN_READ, name_functions
from .totals import BANDS, Total, totals_of

FORMAT, VERSION = "asterope-recording", 2

# So much of a command line is kept, as it may hold a whole program (python -c), and of other text.
MOST_WORDS, LONGEST_WORD, LONGEST_TEXT = 256, 1000, 4000

# CPU time that was not recorded is told from the first number of seconds, and from that share of
# the run on. A process takes up to the second number of seconds to end after its last note.
LEAST_UNSEEN, UNNOTED, UNSEEN_SHARE = 0.005, 0.002, 0.05


@dataclass(frozen=True)
class Facts:
    """The facts of a run besides its pool. `seconds` and `cpu_seconds` count all processes so far.
    `recorded_seconds`: the CPU time of the recorded ones; None: all. `used`: the kernel's account.
    `complete`: the command had ended. `outlived_by`: the number of its processes that still ran
    then. `closed`: the folder on the way to the raw files that other users may not enter."""

    command: list[str]
    executable: str
    machine: dict[str, str | int]
    started: float  # seconds since 1970
    seconds: float
    cpu_seconds: float
    complete: bool
    recorded_seconds: float | None = None
    outlived_by: int = 0
    closed: Path | None = None
    used: Used = field(default_factory=Used)


def this_machine() -> dict[str, str | int]:
    text = ""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    brand = re.search(r"(?m)^model name\s*:(.*)", text)
    cpu = " ".join(brand[1].split()) if brand else "unknown"
    return {"cpu": cpu, "cpus": os.cpu_count() or 1, "libc": libc_name()}


def libc_name() -> str:
    """The name and the version, as in "glibc 2.36"."""
    return " ".join(platform.libc_ver()).strip() or "unknown"


def make_recording(pool: Pool, facts: Facts, warnings: Sequence[str] = ()) -> dict[str, Any]:
    totals = totals_of(pool)
    cpu_seconds = max(facts.cpu_seconds, pool.cpu_seconds)
    most = cpu_seconds * _outside_kernel(facts.used)  # seconds that copies cannot exceed

    def shares(total: Total, known: bool = False) -> dict[str, Any]:
        """Its `share` is the greatest possible one of the run's CPU time, without the kernel's
        time. `known`: it has one even if nothing was timed."""
        seconds = total.slowest if known and total.seconds is None else total.seconds
        share = None
        if seconds is not None and cpu_seconds > 0:
            share = _figure(min(1.0, min(seconds, total.slowest, most) / cpu_seconds))
        return {"calls": round(total.calls), "bytes": round(total.bytes), "share": share}

    unseen = _unseen(facts, pool.processes)
    warnings = [*warnings, *_doubts(pool.flags), *warnings_of(others_of(pool.others))]
    if facts.closed is not None and (unseen or pool.flags.get("shared_slots")):
        warnings.append(f"{one_line(facts.closed)}: other users may not enter it: {TO_OPEN}")
    if totals.impossible:
        warnings.append(f"calls of an impossible size, which are left out: {totals.impossible}")
    sites = [place.site for place in totals.places]
    started = datetime.fromtimestamp(int(facts.started), timezone.utc)
    if not CAN_READ:
        warnings.append(
            f"functions are not named: that needs pyelftools, {to_install('pyelftools')}"
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool_version": __version__,
        "program": {
            "command": [kept_text(word)[:LONGEST_WORD] for word in facts.command[:MOST_WORDS]],
            "executable": kept_text(facts.executable),
            "name": kept_text(Path(facts.command[0]).name),
        },
        "machine": facts.machine,
        "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "seconds": _figure(facts.seconds),
        "cpu_seconds": _figure(cpu_seconds),
        "kernel_share": _figure(facts.used.kernel_share),
        "minor_faults": facts.used.faults,
        "complete": facts.complete,
        "unseen": unseen,
        "unnoted": pool.unnoted,
        "outlived_by": facts.outlived_by,
        "processes": pool.processes,
        "threads": pool.threads,
        "sampling": {"period": pool.period, "drawn": pool.drawn, "samples": totals.samples},
        "copies": {**shares(totals.copies, known=True), "timed": totals.copies.timed},
        "sets": {**shares(totals.sets, known=True), "timed": totals.sets.timed},
        "calls": [
            {"function": function, "from": first, "to": end, "calls": calls}
            for function, classes in totals.counts.items()
            for (first, end), calls in classes.items()
        ],
        "sizes": [[size, _figure(calls)] for size, calls in totals.sizes.items()],
        "bands": [
            {"from": first, "to": end, **shares(band)}
            for first, end, band in zip(BANDS, [*BANDS[1:], None], totals.bands)
        ],
        "places": [
            {
                "module": kept_text(place.site.module),
                "function": kept_text(name),
                "offset": place.site.offset,
                "calls_function": place.function,
                **shares(place.total),
                "median_size": place.median_size,
                "samples": place.samples,
            }
            for place, name in zip(totals.places, name_functions(sites))
        ],
        "warnings": [kept_text(line)[:LONGEST_WORD] for line in warnings],
    }


def _outside_kernel(used: Used) -> float:
    """The greatest possible share of the CPU time outside the kernel. It is a bound, as the kernel
    only looks at its clock's ticks whether it runs itself."""
    ticks, part = used.seconds * os.sysconf("SC_CLK_TCK"), 1 - used.kernel_share
    if ticks < 1:
        return 1.0
    return min(1.0, part + 3 * math.sqrt(part * (1 - part) / ticks) + 1 / ticks)


def recording_text(recording: Mapping[str, Any]) -> str:
    """JSON with a line for each field: small, and still readable."""
    fields = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in recording.items())
    return "{\n" + ",\n".join(fields) + "\n}\n"


def executable_of(path: Path) -> str | None:
    """The program of the recording that lies there, of any version; None: not a recording."""
    try:
        with open_to_read(path) as file:
            whole = json.load(file)
        if whole["format"] == FORMAT:
            return str(whole["program"]["executable"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        pass
    return None


def _unseen(facts: Facts, processes: int) -> float:
    """The share of the CPU time that was not recorded. 0 if it is so little that recorded processes
    may have taken it after their last note."""
    if facts.recorded_seconds is None:
        return 0.0
    seconds = facts.cpu_seconds - facts.recorded_seconds
    if seconds < LEAST_UNSEEN + processes * UNNOTED or seconds < UNSEEN_SHARE * facts.cpu_seconds:
        return 0.0
    return _figure(seconds / facts.cpu_seconds)


def kept_text(text: str) -> str:
    """Text that readers in all languages accept: without halves of characters."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")[:LONGEST_TEXT]


def _figure(value: float) -> float:
    """To 6 digits: more are noise."""
    return float(f"{value:.6g}")


# The caveats of the figures: a sentence for each flag that some process has.
_DOUBTS = {
    "full": "the disk was full: samples or places of {} are missing",
    "cut_short": "raw files of {} are cut short: a part of them is missing",
    "shared_slots": "{} had too many threads at once, or children without a file: counts may be a "
    "little too low, and the children's places are unknown",
    "quiet": "system calls were restricted in {}: copies there were only counted from then on",
    "modules_full": "more code was loaded than could be listed: some places have no file",
}


def _doubts(flags: Mapping[str, int]) -> list[str]:
    return [
        words.format(counted(count, "process", "processes"))
        for name, words in _DOUBTS.items()
        if (count := flags.get(name))
    ]
