"""The first answer, as text: what copies cost at most, which they are, and what to do next."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from typing import Any

from ..ending import FAILS, OF_SANDBOXES
from ..faults import one_line
from ..figures import bytes_text, count_text, place_text
from ..render import human_size

WIDTH = 100

# A program that gains less is as fast as before for whoever runs it: the noise of most machines is
# more.
WORTH_IT = 0.02

UNSEEN = (
    "Not seen: copies that the compiler put in line, those of static code, and those inside libc."
)


def answer(recording: Mapping[str, Any]) -> str:
    """Some 30 lines of at most 100 columns."""
    blocks = [[_run_line(recording), *_wrapped(headline(recording))]]
    if recording["copies"]["calls"]:
        blocks.append(_band_lines(recording))
    if recording["places"]:
        blocks.append(_place_lines(recording))
    notes = [UNSEEN, *(f"Note: {one_line(text)}." for text in recording["warnings"])]
    blocks.append([line for text in (*notes, advice(recording)) for line in _wrapped(text)])
    return "\n\n".join("\n".join(block) for block in blocks)


def _run_line(recording: Mapping[str, Any]) -> str:
    parts = [
        f"{one_line(recording['program']['name'])[:30]}",
        f"{recording['seconds']:.3g} s",
        f"{recording['cpu_seconds']:.3g} s of CPU time",
        _many(recording["processes"], "process", "processes"),
        _many(recording["threads"], "thread", "threads"),
        f"{count_text(recording['copies']['calls'])} copies",
    ]
    return ", ".join(parts)


def headline(recording: Mapping[str, Any]) -> str:
    """What copies took at most."""
    unseen, unnoted = recording["unseen"], recording["unnoted"]
    if not unseen:
        return _seen_headline(recording)
    ended = ""
    if unnoted:
        of = "one that was" if unnoted == 1 else f"{unnoted} that were"
        ended = (
            f", or of {of} and ended without a word, after it was seen last (killed, or ended by a "
            "system call that libc knows nothing of)"
        )
    return (
        f"{100 * unseen:.0f} % of this run's CPU time is of processes that were not recorded"
        f"{ended}. {_seen_headline(recording)}"
    )


def _seen_headline(recording: Mapping[str, Any]) -> str:
    copies, sets = recording["copies"], recording["sets"]
    if not recording["processes"]:
        return "Nothing was recorded: no process loaded the recorder."
    if not copies["calls"] and not sets["calls"]:
        return "No copy was seen."
    if copies["share"] is None:
        return "What the copies took is not known: the run was too short."
    also = f", sets (memset) at most {percent(sets['share'])}" if sets["calls"] else ""
    return f"Copies take at most {percent(copies['share'])} of this run's CPU time{also}."


def _band_lines(recording: Mapping[str, Any]) -> list[str]:
    lines = ["size                calls    bytes   of CPU time at most"]
    for band in recording["bands"]:
        if band["calls"]:
            calls, copied = count_text(band["calls"]), bytes_text(band["bytes"])
            share = percent(band["share"])
            lines.append(f"{band_name(band):17} {calls:>7} {copied:>8}   {share:>8}")
    return lines


def band_name(band: Mapping[str, Any]) -> str:
    first, end = band["from"], band["to"]
    return f"from {human_size(first)}" if first else f"below {human_size(end)}"


def _place_lines(recording: Mapping[str, Any]) -> list[str]:
    lines = ["  at most    calls    bytes  median size   where"]
    for place in recording["places"]:
        lines.append(
            f"{percent(place['share']):>9}  {count_text(place['calls']):>7} "
            f"{bytes_text(place['bytes']):>8}  {bytes_text(place['median_size']):>11}   "
            f"{place_text(place['module'], place['function'], place['offset'], 45)}"
        )
    return lines


def advice(recording: Mapping[str, Any]) -> str:
    """What to do next, one line."""
    shares = [recording[which]["share"] for which in ("copies", "sets")]
    known = None not in shares
    # First: what went on elsewhere is in no share, and a trial would not see it, either.
    if recording["outlived_by"]:
        return "Next: record again, with a command that ends when its work is done (no daemon)."
    if any(FAILS in line for line in recording["warnings"]):
        return "Next: record again, with a command that succeeds: a trial takes no other."
    if any(OF_SANDBOXES in line for line in recording["warnings"]):
        return "Next: record again, with the program's sandbox off: a trial would end as this did."
    if known and sum(shares) >= WORTH_IT:
        command = one_line(shlex.join(recording["program"]["command"]))
        shown = command if len(command) <= 40 else "COMMAND"
        return f"Next: asterope-prove -- {shown} tells what the routine brings."
    if recording["unseen"]:
        return (
            "Next: record again, so that more is seen: all processes need LD_PRELOAD and "
            "ASTEROPE_RECORD in their environment, and none may be static or be killed."
        )
    if not known:
        return "Next: record a longer run."
    return "Not worth it: what tuning gains of less than 2 % cannot be noticed."


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def percent(share: float | None) -> str:
    """Of what something takes at most, two digits: 0.1234 -> 12 %."""
    if share is None:
        return "-"
    return f"{100 * max(share, 0.0001):.2g} %" if share < 0.995 else "100 %"
