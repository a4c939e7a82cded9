"""The recording as JSON: what recording.schema.json describes, from a session's raw files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .. import __version__
from ..command_line import to_install
from .bands import band_ends
from .estimate import Band, Estimates, Place, estimate
from .facts import Facts
from .raw import RawProcess
from .readers import WINDOW_MS, Reading
from .reading import RECORDING
from .small_calls import TimeTrace
from .survey import Interval

# What of a command line is kept: it may hold a whole program (python -c).
MOST_WORDS, LONGEST_WORD = 256, 1000

# CPU seconds: of what is not known to be recorded, at least so much is worth a word, and a process
# takes so much to end after it has noted its time. And the share of a run that is.
LEAST_UNSEEN, UNNOTED, UNSEEN_SHARE = 0.005, 0.002, 0.05

# Below this many timed copies intervals are wide.
FEW_TIMED = 50


def make_recording(
    processes: Sequence[RawProcess],
    facts: Facts,
    warnings: Sequence[str] = (),
    time_trace: TimeTrace | None = None,
) -> dict[str, Any]:
    estimates = estimate(processes, facts.calibration, time_trace)
    cpu_seconds = max(facts.cpu_seconds, recorded_cpu_seconds(processes))
    seconds = _within_the_run(estimates.copy_seconds, cpu_seconds)
    places = estimates.places
    warnings = [*warnings, *_doubts(processes, estimates)]
    try:  # not above: all else does without pyelftools
        from .symbols import name_functions

        names = name_functions([(place.site.module, place.site.offset) for place in places])
    except ModuleNotFoundError:
        names = [""] * len(places)
        warnings.append(
            f"functions are not named: that needs pyelftools, {to_install('pyelftools')}"
        )
    return {
        "format": RECORDING.format,
        "version": RECORDING.version,
        "tool_version": __version__,
        "program": {
            "command": [_text(word) for word in facts.command[:MOST_WORDS]],
            "executable": _text(facts.executable),
            "name": _text(Path(facts.command[0]).name),
        },
        "machine": asdict(facts.machine),
        "started": datetime.fromtimestamp(int(facts.started), timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        ),
        "seconds": _figure(facts.seconds),
        "cpu_seconds": _figure(cpu_seconds),
        "complete": facts.complete,
        "unseen": _unseen(facts, len(processes)),
        "outlived_by": facts.outlived_by,
        "processes": len(processes),
        "threads": sum(process.threads for process in processes),
        "sampling": {
            "period": max((process.period for process in processes), default=0),
            "drawn": sum(process.drawn for process in processes),
            "samples": estimates.kept,
            "timing_ticks": _figure(facts.calibration.empty_ticks),
            "cached_below_ticks": _figure(estimates.cached_below_ticks),
            "tick_hz": _figure(estimates.tick_hz),
        },
        "readers": {
            "from": estimates.readers.source,
            "window_ms": WINDOW_MS,
            "why": estimates.readers.why,
        },
        "copy_seconds": _interval(seconds),
        "share": _share_of(seconds, cpu_seconds),
        "calls": [
            {"function": function, "from": first, "to": end, "calls": calls}
            for function, classes in estimates.counts.items()
            for (first, end), calls in classes.items()
        ],
        "bands": [_band(band, cpu_seconds) for band in estimates.bands],
        "memset_bands": [_memset_band(band, cpu_seconds) for band in estimates.memset_bands],
        "alignments": {
            "source": _pairs(estimates.source_alignments),
            "destination": _pairs(estimates.destination_alignments),
        },
        "aliased": _figure(estimates.aliased),
        "overlapping": _figure(estimates.overlapping),
        "gaps": None
        if estimates.gaps is None
        else {f"{name}_ns": _figure(value * 1e9) for name, value in asdict(estimates.gaps).items()},
        "trace": [[list(call) for call in burst] for burst in estimates.trace],
        "places": [_place(place, name) for place, name in zip(places, names)],
        "warnings": [_text(line) for line in warnings],
    }


def recording_text(recording: Mapping[str, Any]) -> str:
    """JSON, a line for each field: small, and yet to be looked at."""
    fields = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in recording.items())
    return "{\n" + ",\n".join(fields) + "\n}\n"


def recorded_cpu_seconds(
    processes: Sequence[RawProcess], known: Mapping[int, float] | None = None
) -> float:
    """Of recorded processes. An exec goes on with the process's clock. `known`: what else is known
    of them, by process id."""
    last: dict[int, float] = {}
    for process in processes:
        before = last.get(process.pid, (known or {}).get(process.pid, 0.0))
        last[process.pid] = max(before, process.cpu_seconds)
    return sum(last.values()) + sum(process.children_cpu_seconds for process in processes)


def _unseen(facts: Facts, processes: int) -> float:
    """The share of the CPU time that was not recorded; 0 where it is what recorded processes took
    after they noted their time for the last time."""
    if facts.recorded_seconds is None:
        return 0.0
    seconds = facts.cpu_seconds - facts.recorded_seconds
    if seconds < LEAST_UNSEEN + processes * UNNOTED or seconds < UNSEEN_SHARE * facts.cpu_seconds:
        return 0.0
    return _figure(seconds / facts.cpu_seconds)


def _text(text: str) -> str:
    """What readers in all languages take for text: no halves of characters."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")[:LONGEST_WORD]


def _figure(value: float) -> float:
    """To 6 digits: more are noise."""
    return float(f"{value:.6g}")


def _interval(interval: Interval | None, scale: float = 1.0) -> dict[str, float] | None:
    if interval is None:
        return None
    return {name: _figure(value * scale) for name, value in asdict(interval).items()}


def _within_the_run(seconds: Interval | None, cpu_seconds: float) -> Interval | None:
    """No copies take longer than the run: one sample that stands for many calls and was interrupted
    where the recorder did not see it, or what timing adds to small copies, may say so."""
    if seconds is None or cpu_seconds <= 0:
        return seconds
    return Interval(*(min(cpu_seconds, value) for value in asdict(seconds).values()))


def _share_of(seconds: Interval | None, cpu_seconds: float) -> dict[str, float] | None:
    if seconds is None or cpu_seconds <= 0:
        return None
    return _interval(seconds, 1 / cpu_seconds)


def _pairs(shares: Mapping[int, float]) -> list[list[float]]:
    return [[at, _figure(share)] for at, share in shares.items()]


def _band(band: Band, cpu_seconds: float) -> dict[str, Any]:
    above, up_to = band_ends(band.band)
    return {
        "above": above,
        "up_to": up_to,
        "calls": round(band.calls),
        "bytes": round(band.bytes),
        "seconds": _interval(_within_the_run(band.seconds, cpu_seconds)),
        "situations": [
            {
                "source_cached": one.source_cached,
                "destination_cached": one.destination_cached,
                "calls": _figure(one.calls),
                "time": _figure(one.time),
            }
            for one in band.situations
        ],
        "fresh": _figure(band.fresh),
        "probed": band.probed,
        "timed": band.timed,
        "read": _reading(band.read),
    }


def _reading(read: Reading | None) -> dict[str, float] | None:
    if read is None:
        return None
    return {n: v if isinstance(v, int) else _figure(v) for n, v in asdict(read).items()}


def _memset_band(band: Band, cpu_seconds: float) -> dict[str, Any]:
    """Nothing is read, so there is no source, and its readers are not watched."""
    fields = _band(band, cpu_seconds)
    del fields["read"]
    fields["situations"] = [
        {name: value for name, value in one.items() if name != "source_cached"}
        for one in fields["situations"]
        if one["source_cached"]
    ]
    return fields


def _place(place: Place, function: str) -> dict[str, Any]:
    def shown(share: float | None) -> float | None:
        return None if share is None else _figure(share)

    return {
        "module": _text(place.site.module),
        "function": _text(function),
        "offset": place.site.offset,
        "calls": round(place.calls),
        "bytes": round(place.bytes),
        "share": shown(place.share),
        "median_size": place.median_size,
        "samples": place.samples,
        "source_cached": shown(place.source_cached),
        "destination_cached": shown(place.destination_cached),
        "read_soon": shown(place.read_soon),
        "serve": place.serve,
    }


def _doubts(processes: Sequence[RawProcess], estimates: Estimates) -> list[str]:
    """What a reader must know to trust the figures, a sentence each."""
    found = []
    timed = sum(band.timed for band in estimates.bands)
    if 0 < timed < FEW_TIMED:
        found.append(f"only {timed} copies were timed: a longer run would narrow the intervals")
    flags = [process.flags for process in processes]
    full = sum(flag.full for flag in flags)
    if full:
        found.append(f"the disk was full: {_processes(full)} recorded only until then")
    cut = sum(flag.cut_short for flag in flags)
    if cut:
        found.append(f"raw files of {_processes(cut)} are cut short: a part of them is missing")
    shared = sum(flag.shared_slots for flag in flags)
    if shared:
        found.append(
            f"{_processes(shared)} had more threads at once than are counted apart, or children "
            "that could make no file of their own: their counts may be a little too low"
        )
    quiet = sum(flag.quiet for flag in flags)
    if quiet:
        found.append(
            f"{_processes(quiet)} restricted their system calls: their copies were only counted "
            "from then on"
        )
    if any(flag.modules_full for flag in flags):
        found.append("more code was loaded than could be listed: some places have no file")
    if estimates.preempted:
        found.append(
            f"{estimates.preempted} timed copies were interrupted by something else and left out"
        )
    return found


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"
