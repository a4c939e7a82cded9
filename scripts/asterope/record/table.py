"""The first answer as text: the cost of copies at most, their sizes and places, the next step."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from typing import Any

from ..ending import FAILS, OF_SANDBOXES
from ..faults import one_line
from ..figures import bytes_text, count_text, counted, figure_text, percent_text, place_text
from ..program import Called
from ..render import human_size
from .kernel import are_pages_the_cost, kernel_words, to_try_tunables
from .others import CHECKED, OWN
from .recorder import TO_OPEN
from .symbols import told_apart

WIDTH = 100

# Nobody feels a smaller gain: the noise of most machines is more.
WORTH_IT = 0.02

# A share is a guess if fewer calls were timed, unless these are all calls.
FEW_TIMED = 30

# The kernel's share is told from this part of the time on.
MUCH_OF_KERNEL = 0.1

UNSEEN = (
    "Not seen, as no preloaded library serves them: copies in line, in the program's own loops, in "
    "code made at run time (Java, R, PyTorch), in static code, inside libc and in the kernel."
)


def answer(recording: Mapping[str, Any]) -> str:
    """Some 30 lines of at most 100 columns."""
    first = " ".join(filter(None, (headline(recording), _of_kernel(recording))))
    blocks = [[_run_line(recording), *_wrapped(first)]]
    if recording["copies"]["calls"]:
        blocks.append(_band_lines(recording))
    if recording["places"]:
        blocks.append(_place_lines(recording))
    notes = [UNSEEN, *(f"Note: {one_line(text)}." for text in recording["warnings"])]
    blocks.append([line for text in (*notes, advice(recording)) for line in _wrapped(text)])
    return "\n\n".join("\n".join(block) for block in blocks)


def _run_line(recording: Mapping[str, Any]) -> str:
    parts = [
        one_line(recording["program"]["name"])[:30],
        f"{figure_text(recording['seconds'])} s",
        f"{figure_text(recording['cpu_seconds'])} s of CPU time",
        counted(recording["processes"], "process", "processes"),
        counted(recording["threads"], "thread"),
        f"{count_text(recording['copies']['calls'])} copies",
    ]
    return ", ".join(parts)


def headline(recording: Mapping[str, Any]) -> str:
    """The sentences about the time of copies."""
    unseen, unnoted = recording["unseen"], recording["unnoted"]
    if not unseen:
        return _seen_headline(recording)
    ended = ""
    if unnoted:
        of = "one that ended" if unnoted == 1 else f"{unnoted} that ended"
        ended = (
            f", or of {of} without noting its time. The last time of such a process is missing, as "
            "it was killed, ended by a system call past libc, or restricted itself"
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
        return "The time of the copies is not known: the run was too short."
    also = f", sets (memset) at most {percent_text(sets['share'])}" if sets["calls"] else ""
    text = f"Copies take at most {percent_text(copies['share'])} of this run's CPU time{also}."
    if _is_guess(recording):
        timed = copies["timed"] + sets["timed"]
        text += f" That is a guess: {counted(timed, 'call was', 'calls were')} timed."
    return text


def _is_guess(recording: Mapping[str, Any]) -> bool:
    """Whether the share seems to be worth it, but few calls were timed."""
    parts = [recording[which] for which in ("copies", "sets")]
    shares = sum(part["share"] or 0.0 for part in parts)
    timed, calls = (sum(part[which] for part in parts) for which in ("timed", "calls"))
    return shares >= WORTH_IT and timed < min(FEW_TIMED, calls)


def _of_kernel(recording: Mapping[str, Any]) -> str:
    share, faults = recording["kernel_share"], recording["minor_faults"]
    if share < MUCH_OF_KERNEL:
        return ""
    copied = recording["copies"]["bytes"]
    words = kernel_words(share, faults, copied)
    if not are_pages_the_cost(share, recording["cpu_seconds"], faults, copied):
        return f"{words}, which no routine changes."
    return f"{words}: {to_try_tunables(_command(recording))} compares ways to save them."


def _band_lines(recording: Mapping[str, Any]) -> list[str]:
    lines = ["size                calls    bytes   of CPU time at most"]
    for band in recording["bands"]:
        if band["calls"]:
            calls, copied = count_text(band["calls"]), bytes_text(band["bytes"])
            share = percent_text(band["share"])
            lines.append(f"{band_name(band):17} {calls:>7} {copied:>8}   {share:>8}")
    return lines


def band_name(band: Mapping[str, Any]) -> str:
    first, end = band["from"], band["to"]
    return f"from {human_size(first)}" if first else f"below {human_size(end)}"


def _place_lines(recording: Mapping[str, Any]) -> list[str]:
    lines = ["  at most    calls    bytes  median size   where"]
    program = Called(recording["program"]["executable"], recording["program"]["name"])
    sites = [(place["module"], place["offset"]) for place in recording["places"]]
    functions = told_apart(sites, [place["function"] for place in recording["places"]])
    for place, function in zip(recording["places"], functions):
        lines.append(
            f"{percent_text(place['share']):>9}  {count_text(place['calls']):>7} "
            f"{bytes_text(place['bytes']):>8}  {bytes_text(place['median_size']):>11}   "
            f"{place_text(program.name_of(place['module']), function, place['offset'], 45)}"
        )
    return lines


def _command(recording: Mapping[str, Any]) -> str:
    command = one_line(shlex.join(recording["program"]["command"]))
    return command if len(command) <= 40 else "COMMAND"


def advice(recording: Mapping[str, Any]) -> str:
    """The next step, in one line."""
    warnings = " ".join(recording["warnings"])
    shares = [recording[which]["share"] for which in ("copies", "sets")]
    known = None not in shares
    # First: the shares lack the time of processes that went on, and a trial would lack it, too.
    if recording["outlived_by"]:
        return "Next: record again, with a command that ends when its work is done (no daemon)."
    if FAILS in warnings:
        return "Next: record again, with a command that succeeds: a trial takes no other."
    if OF_SANDBOXES in warnings:
        return "Next: record again, with the program's sandbox off: a trial would end as this did."
    if CHECKED in warnings:
        return "Next: record a build without the sanitizer."
    if TO_OPEN in warnings:
        return f"Next: record again, and {TO_OPEN}."
    shown = _command(recording)
    if known and _is_guess(recording):
        return "Next: record a longer run."
    if known and sum(shares) >= WORTH_IT:
        return f"Next: asterope-prove -- {shown} tells the routine's gain."
    if OWN in warnings:
        return f"Next: asterope-prove --against OTHER -- {shown} compares it with another build."
    if recording["unseen"]:
        return (
            "Next: record again, so that more is seen: all processes need LD_PRELOAD and "
            "ASTEROPE_RECORD in their environment, and none may be static or be killed."
        )
    if not known:
        return "Next: record a longer run."
    return (
        "Not worth it: calls of libc's copies take less than 2 %, and a gain of a part of that "
        "cannot be noticed."
    )


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
