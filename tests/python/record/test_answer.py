"""The first answer of asterope-record: what it says, and that it fits on a screen."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from asterope.record.recording import make_recording
from asterope.record.table import WIDTH, advice, answer, band_name, place_name
from made_up_processes import Kind, facts, made_up_process


def recording_of(*kinds: Kind, **known: Any) -> dict[str, Any]:
    return make_recording([made_up_process(kinds)], facts(**known))


@pytest.fixture(scope="module")
def recording() -> dict[str, Any]:
    return recording_of(
        Kind(16, 4_000_000, 1e-8, site=0x200),
        Kind(64 << 10, 15_000, 20e-6, source_cached=0, site=0x300),
        Kind(32 << 20, 3, 5e-3),
    )


def test_it_says_what_copies_take_and_what_faster_ones_would_bring(recording) -> None:
    raw = copy.deepcopy(recording)
    raw["share"] = {"value": 0.031, "low": 0.028, "high": 0.034}
    text = answer(raw, "recording.json").replace("\n", " ")
    assert (
        "Copies took 3.1 % of this run's CPU time (2.8 to 3.4): if all were twice as fast, the "
        "program would be 1.6 % faster." in text
    )


def test_it_has_bands_places_and_what_it_does_not_see(recording) -> None:
    text = answer(recording, "recording.json")
    for part in ("to 64 KiB", "above 4 MiB", "libmade-up.so.1", "inside libc", "source"):
        assert part in text
    assert text.endswith("Next: asterope-tune --recording recording.json")


def test_it_says_what_sets_take_where_that_can_be_noticed(recording) -> None:
    assert "memset" not in answer(recording, "r.json")
    many = recording_of(Kind(16, 4_000, 1e-8), Kind(1 << 20, 40_000, 50e-6, function="memset"))
    text = answer(many, "r.json").replace("\n", " ")
    assert (
        "Sets (memset) took 20.0 % of this run's CPU time (" in text
        and "40k calls, 39.1 GiB." in text
    )


def test_no_line_is_longer_than_a_screen(recording) -> None:
    raw = copy.deepcopy(recording)
    raw["program"]["name"] = "n" * 300
    raw["places"][0].update(module="/lib/" + "m" * 300, function="f" * 900)
    raw["places"][1].update(module="", function="\x1b[2J" * 20)
    raw["warnings"] = ["one two " * 40, "\n\x1b[2J"]
    for band in raw["bands"]:
        band.update(calls=10**15, bytes=10**18, seconds={"value": 10, "low": 10, "high": 10})
    text = answer(raw, "recording.json")
    assert max(len(line) for line in text.split("\n")) <= WIDTH
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (0.001, 0.015, "Not worth it"),
        (0.01, 0.05, "too little"),
        (0.03, 0.05, "Next: asterope-tune"),
    ],
)
def test_it_says_whether_tuning_is_worth_it(recording, low: float, high: float, says: str) -> None:
    raw = {**recording, "share": {"value": (low + high) / 2, "low": low, "high": high}}
    assert says in advice(raw, "r.json")


def test_copies_that_are_too_few_to_be_timed_are_not_worth_it() -> None:
    raw = recording_of(Kind(16, 300, 1e-8))
    assert raw["share"] is None
    text = answer(raw, "r.json")
    assert (
        "too few to be timed: they took less than 0.001 % of this run's CPU time" in text
        and "Not worth it" in text
    )


def test_what_could_not_be_timed_is_not_said_to_be_little() -> None:
    raw = recording_of(Kind(16, 300, 1e-8), cpu_seconds=1e-4)
    raw["cpu_seconds"] = 1e-4
    text = answer(raw, "r.json")
    assert "not known" in text and "longer run" in text


@pytest.mark.parametrize(
    ("known", "says", "little"),
    [
        ({}, "Not worth it", True),
        ({"recorded_seconds": 9.9}, "Not worth it", True),
        ({"recorded_seconds": 4.0}, "60 % of this run's CPU time is of processes that were", False),
        ({"outlived_by": 1}, "no daemon", False),
    ],
)
def test_what_was_not_seen_is_not_said_to_be_little(
    known: dict[str, Any], says: str, little: bool
) -> None:
    text = answer(recording_of(Kind(16, 300, 1e-8), **known), "r.json").replace("\n", " ")
    assert says in text and ("Not worth it" in text) == little


def test_nothing_recorded_is_said() -> None:
    assert "Nothing was recorded" in answer(make_recording([], facts()), "r.json")


def test_bands_and_places_have_names() -> None:
    assert band_name({"above": 0, "up_to": 64}) == "up to 64 B"
    assert band_name({"above": 1024, "up_to": 4096}) == "to 4 KiB"
    assert band_name({"above": 4 << 20, "up_to": None}) == "above 4 MiB"
    place = {"module": "/usr/lib/libz.so.1", "function": "inflate", "offset": 16}
    assert place_name(place, 40) == "libz.so.1 inflate"
    assert place_name({**place, "function": ""}, 40) == "libz.so.1 0x10"
    assert place_name({**place, "module": ""}, 40) == "code in no file inflate"
