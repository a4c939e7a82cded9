"""Who reads a copy, and when: from watchpoints, or where there were none, from pages that return.

A watchpoint tells the first access to one line of the destination, whoever makes it. Where the
system refuses them, the bursts tell less: a destination that comes back as the source of one of
the next copies was read then, one that comes back as a destination was overwritten. What the
program itself reads is not seen so.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .bands import band_of
from .calls import COPIES, Site, Sites
from .raw import BurstCall, RawProcess, Watch
from .recorder import Calibration

# A copy is read soon within this, or within twice its own time.
SOON_SECONDS = 1e-3

WINDOW_MS = 5

# Below this many of them a place's watches say nothing.
FEW_WATCHES = 5


@dataclass(frozen=True)
class Reading:
    """What became of copies, as shares that add up to 1."""

    soon: float
    later: float
    overwritten: float
    not_in_window: float
    watched: int


@dataclass(frozen=True)
class Readers:
    source: str  # "watchpoints", "reuse", "none"
    why: str  # it is not watchpoints; empty where it is
    by_band: Mapping[int, Reading]
    soon_by_site: Mapping[Site, float]


def estimate_readers(
    processes: Sequence[RawProcess], calibration: Calibration, tick_hz: float
) -> Readers:
    outcomes: dict[int, list[str]] = {}
    by_site: dict[Site, list[bool]] = {}
    for process in processes:
        sites = Sites(process.modules)
        for watch in process.watches:
            outcome = _outcome(watch, calibration, tick_hz)
            outcomes.setdefault(band_of(watch.size), []).append(outcome)
            by_site.setdefault(sites.of(watch.caller), []).append(outcome == "soon")
    if outcomes:
        soon = {
            site: sum(found) / len(found)
            for site, found in by_site.items()
            if len(found) >= FEW_WATCHES
        }
        return Readers("watchpoints", "", _readings(outcomes), soon)
    refused = next((p.flags.watch_errno for p in processes if p.flags.watch_errno), 0)
    for process in processes:
        for burst in process.bursts:
            for size, outcome in _returns(burst, tick_hz):
                outcomes.setdefault(band_of(size), []).append(outcome)
    why = _why(refused)
    if outcomes:
        return Readers("reuse", why, _readings(outcomes), {})
    return Readers("none", why, {}, {})


def _outcome(watch: Watch, calibration: Calibration, tick_hz: float) -> str:
    if watch.outcome == "written":
        return "overwritten"
    if watch.outcome != "read" or watch.after_ns is None:
        return "not_in_window"
    ticks = max(0, (watch.copy_ticks or 0) - calibration.empty_ticks)
    soon = max(SOON_SECONDS, 2 * ticks / tick_hz if tick_hz else 0)
    return "soon" if watch.after_ns <= soon * 1e9 else "later"


def _readings(outcomes: Mapping[int, Sequence[str]]) -> dict[int, Reading]:
    return {
        band: Reading(
            *(
                found.count(outcome) / len(found)
                for outcome in ("soon", "later", "overwritten", "not_in_window")
            ),
            watched=len(found),
        )
        for band, found in sorted(outcomes.items())
    }


def _why(refused: int) -> str:
    if not refused:
        return "no call was watched"
    hint = ""
    if refused in (errno.EACCES, errno.EPERM):
        hint = ": allow it with sysctl kernel.perf_event_paranoid=2, or run as root"
    return f"the system refuses watchpoints ({os.strerror(refused)}){hint}"


def _returns(burst: Sequence[BurstCall], tick_hz: float) -> Iterable[tuple[int, str]]:
    """Size and outcome of the first half of a burst's copies: the others have too few calls behind
    them to return."""
    copies = [i for i, call in enumerate(burst) if call.function in COPIES and call.size]
    for i in copies:
        if i >= len(burst) // 2:
            break
        yield burst[i].size, _fate(burst, i, tick_hz)


def _fate(burst: Sequence[BurstCall], i: int, tick_hz: float) -> str:
    """The place is told by its page's hash and its address modulo 64."""
    place = burst[i].destination_page, burst[i].destination_mod
    seconds = 0.0
    for call in burst[i + 1 :]:
        seconds += call.gap_ticks / tick_hz if tick_hz else 0.0
        if call.function in COPIES and (call.source_page, call.source_mod) == place:
            return "soon" if seconds <= SOON_SECONDS else "later"
        if (call.destination_page, call.destination_mod) == place:
            return "overwritten"
    return "not_in_window"
