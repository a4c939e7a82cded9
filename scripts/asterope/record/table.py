"""The first answer, as text: what copies cost, which they are, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ..one_line import one_line
from ..render import human_size
from .calls import COPIES
from .readers import FEW_WATCHES

WIDTH = 100

# A program that gains less is as fast as before for whoever runs it: the noise of most machines is
# more.
WORTH_IT = 0.02

# What a call of a program takes at most, and a byte, where neither was ever in a cache.
SLOWEST_CALL, SLOWEST_BYTE = 400e-9, 1e-9

UNSEEN = (
    "Not seen: copies that the compiler put in line, those of static code, and those inside libc."
)


def answer(recording: Mapping[str, Any], name: str) -> str:
    """Some 30 lines of at most 100 columns. `name`: of the recording's file."""
    blocks = [[_run_line(recording), *_wrapped(headline(recording)), *_set_lines(recording)]]
    if any(band["calls"] for band in recording["bands"]):
        blocks += [_band_lines(recording), _place_lines(recording)]
    blocks.append([*_wrapped(UNSEEN), *_warnings(recording), *_wrapped(advice(recording, name))])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _run_line(recording: Mapping[str, Any]) -> str:
    parts = [
        f"{one_line(recording['program']['name'])[:30]}",
        f"{recording['seconds']:.3g} s",
        f"{recording['cpu_seconds']:.3g} s of CPU time",
        _many(recording["processes"], "process", "processes"),
        _many(recording["threads"], "thread", "threads"),
        f"{_count(copies_in(recording))} copies",
    ]
    return ", ".join(parts)


def _set_lines(recording: Mapping[str, Any]) -> list[str]:
    """What sets took, where they could be timed and took enough to be noticed."""
    bands = [band for band in recording["memset_bands"] if band["calls"] and band["seconds"]]
    if not bands or recording["cpu_seconds"] <= 0:
        return []
    value, low, high = (
        100 * min(1.0, sum(band["seconds"][end] for band in bands) / recording["cpu_seconds"])
        for end in ("value", "low", "high")
    )
    if value < 100 * WORTH_IT:
        return []
    calls = sum(band["calls"] for band in bands)
    return _wrapped(
        f"Sets (memset) took {value:.1f} % of this run's CPU time ({low:.1f} to {high:.1f}): "
        f"{_count(calls)} calls, {bytes_text(sum(band['bytes'] for band in bands))}."
    )


def copies_in(recording: Mapping[str, Any]) -> int:
    return sum(one["calls"] for one in recording["calls"] if one["function"] in COPIES)


def headline(recording: Mapping[str, Any]) -> str:
    """What copies took, and what it would bring if they were faster."""
    unseen = recording.get("unseen", 0)
    if not unseen:
        return _seen_headline(recording)
    return (
        f"{100 * unseen:.0f} % of this run's CPU time is of processes that were not recorded, or "
        f"were killed. {_seen_headline(recording)}"
    )


def _seen_headline(recording: Mapping[str, Any]) -> str:
    share = recording["share"]
    if not recording["processes"]:
        return "Nothing was recorded: no process loaded the recorder."
    if not copies_in(recording):
        return "No copy was seen."
    if share is None:
        bound = most_of_few(recording)
        if bound is not None:
            return (
                f"Copies are too few to be timed: they took less than {100 * bound:.1g} % of this "
                "run's CPU time."
            )
        return "What the copies took is not known: too few of them could be timed."
    value, low, high = (100 * share[name] for name in ("value", "low", "high"))
    gain = 100 * (1 / (1 - share["value"] / 2) - 1)
    return (
        f"Copies took {value:.1f} % of this run's CPU time ({low:.1f} to {high:.1f}): if all were "
        f"twice as fast, the program would be {gain:.1f} % faster."
    )


def most_of_few(recording: Mapping[str, Any]) -> float | None:
    """The share of the CPU time that copies stay below which were too few to be timed, by what the
    slowest copies take; None where that says nothing."""
    if recording["cpu_seconds"] <= 0:
        return None
    copied = sum(band["bytes"] for band in recording["bands"])
    seconds = SLOWEST_CALL * copies_in(recording) + SLOWEST_BYTE * copied
    share = seconds / recording["cpu_seconds"]
    return share if share < WORTH_IT else None


def _band_lines(recording: Mapping[str, Any]) -> list[str]:
    lines = [
        "                                    of CPU time       source  dest.   read    over-",
        "size                calls    bytes   % (low to high)   cached  cached  soon    written",
    ]
    for band in recording["bands"]:
        if band["calls"]:
            lines.append(
                f"{band_name(band):17} {_count(band['calls']):>7} {bytes_text(band['bytes']):>8}  "
                f"{_of_run(band['seconds'], recording['cpu_seconds']):18}"
                f"{_percent(cached_share(band, 'source_cached')):>6}  "
                f"{_percent(cached_share(band, 'destination_cached')):>6}  "
                f"{_percent(_read(band, 'soon')):>5}  {_percent(_read(band, 'overwritten')):>7}"
            )
    readers = recording["readers"]
    if readers["from"] == "reuse":
        lines += _wrapped(
            f"Read soon, overwritten: by later copies only, as {one_line(readers['why'])}."
        )
    elif readers["from"] == "none":
        lines += _wrapped(f"Who reads the copies is not known: {one_line(readers['why'])}.")
    return lines


def band_name(band: Mapping[str, Any]) -> str:
    above, up_to = band["above"], band["up_to"]
    if up_to is None:
        return f"above {human_size(above)}"
    return f"up to {human_size(up_to)}" if not above else f"to {human_size(up_to)}"


def cached_share(band: Mapping[str, Any], side: str) -> float | None:
    if not band["situations"]:
        return None
    return sum(one["calls"] for one in band["situations"] if one[side])


def read_of(band: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """None where too few copies were watched to speak of shares."""
    read = band["read"]
    return read if read is not None and read["watched"] >= FEW_WATCHES else None


def _read(band: Mapping[str, Any], what: str) -> float | None:
    read = read_of(band)
    return None if read is None else read[what]


def _of_run(seconds: Mapping[str, float] | None, cpu_seconds: float) -> str:
    if seconds is None or cpu_seconds <= 0:
        return f"{'-':>5}"
    value, low, high = (100 * seconds[name] / cpu_seconds for name in ("value", "low", "high"))
    return f"{value:5.1f} ({low:.1f} to {high:.1f})"


def _place_lines(recording: Mapping[str, Any]) -> list[str]:
    places = recording["places"]
    if not places:
        return []
    share = recording["share"]
    lines = [f"% of CPU  median size   {'where':45} served best by"]
    for place in places:
        part = "-"
        if share is not None and place["share"] is not None:
            part = f"{100 * share['value'] * place['share']:.1f}"
        lines.append(
            f"{part:>8}  {bytes_text(place['median_size']):>11}   {place_name(place, 45):45} "
            f"{place['serve']}"
        )
    return lines


def place_name(place: Mapping[str, Any], width: int) -> str:
    """As in "libpng16.so.16 png_read_row", cut to the width in the middle of what is long."""
    module = PurePosixPath(one_line(place["module"])).name or "code in no file"
    function = one_line(place["function"])
    text = f"{module} {function or hex(place['offset'])}"
    if len(text) <= width:
        return text
    module = module if len(module) <= 18 else f"{module[:15]}..."
    rest = width - len(module) - 1
    shown = function or hex(place["offset"])
    return f"{module} {shown if len(shown) <= rest else shown[: rest - 3] + '...'}"


def _warnings(recording: Mapping[str, Any]) -> list[str]:
    return [line for text in recording["warnings"] for line in _wrapped(f"Note: {one_line(text)}.")]


def advice(recording: Mapping[str, Any], name: str) -> str:
    """What to do next, one line."""
    share = recording["share"]
    if share is None or share["high"] < WORTH_IT:
        if recording.get("outlived_by", 0):
            return "Next: record again, with a command that ends when its work is done (no daemon)."
        if recording.get("unseen", 0):
            return (
                "Next: record again, so that more is seen: all processes need LD_PRELOAD and "
                "ASTEROPE_RECORD in their environment, and none may be static or be killed."
            )
    if share is None and most_of_few(recording) is None:
        return "Next: record a longer run."
    if share is None or share["high"] < WORTH_IT:
        return "Not worth it: what tuning gains of less than 2 % cannot be noticed."
    perhaps = "" if share["low"] >= WORTH_IT else " (it may be too little to notice)"
    return f"Next: asterope-tune --recording {one_line(name)}{perhaps}"


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _scaled(value: float, units: Sequence[str], step: int) -> str:
    for unit in units[:-1]:
        if value < step:
            return f"{value:.3g}{unit}" if value < 99.95 else f"{value:.0f}{unit}"
        value /= step
    return f"{value:.3g}{units[-1]}" if value < 99.95 else f"{value:.0f}{units[-1]}"


def _count(value: float) -> str:
    """Three digits: 1230 -> 1.23k."""
    return _scaled(value, ("", "k", "M", "G", "T"), 1000)


def bytes_text(value: float) -> str:
    return _scaled(value, (" B", " KiB", " MiB", " GiB", " TiB", " PiB"), 1024)
