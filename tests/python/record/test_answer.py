"""The first answer of asterope-record: what it says, and that it fits on a screen."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from asterope.ending import FAILS, OF_SANDBOXES
from asterope.figures import place_text
from asterope.record.recording import make_recording
from asterope.record.table import WIDTH, advice, answer, band_name
from made_up_processes import Kind, facts, made_up_process, pool_of


def recording_of(*kinds: Kind, cpu_seconds: float = 10.0, **known: Any) -> dict[str, Any]:
    process = made_up_process(kinds, cpu_seconds=cpu_seconds)
    return make_recording(pool_of(process), facts(cpu_seconds=cpu_seconds, **known))


@pytest.fixture(scope="module")
def recording() -> dict[str, Any]:
    return recording_of(
        Kind(16, 4_000_000, 1e-8, site=0x200),
        Kind(64 << 10, 15_000, 20e-6, site=0x300),
        Kind(32 << 20, 3, 5e-3),
    )


def test_it_says_what_copies_take_at_most_and_what_to_do(recording) -> None:
    text = answer({**recording, "copies": {**recording["copies"], "share": 0.0312}})
    assert "Copies take at most 3.1 % of this run's CPU time." in text
    assert text.endswith("Next: asterope-prove -- made-up --fast tells what the routine brings.")
    long_one = {**recording["program"], "command": ["./program", "x" * 100]}
    assert "asterope-prove -- COMMAND tells" in answer({**recording, "program": long_one})


def test_it_says_what_sets_take_where_there_are_some(recording) -> None:
    assert "memset" not in answer(recording)
    many = recording_of(Kind(16, 4_000, 1e-8), Kind(1 << 20, 40_000, 50e-6, function="memset"))
    text = answer(many).replace("\n", " ")
    assert ", sets (memset) at most 20 %." in text
    assert "Next: asterope-prove" in text


def test_no_line_is_longer_than_a_screen(recording) -> None:
    raw = copy.deepcopy(recording)
    raw["program"]["name"] = "n" * 300
    raw["places"][0].update(module="/lib/" + "m" * 300, function="f" * 900)
    raw["places"][1].update(module="", function="\x1b[2J" * 20)
    raw["warnings"] = ["one two " * 40, "\n\x1b[2J"]
    for band in raw["bands"]:
        band.update(calls=10**15, bytes=10**18, share=1)
    text = answer(raw)
    assert max(len(line) for line in text.split("\n")) <= WIDTH
    assert "\x1b" not in text


def shares(copies: float | None, sets: float | None) -> dict[str, Any]:
    return {"copies": {"share": copies}, "sets": {"share": sets}}


ADVICE = {
    "2 % are worth it": (shares(0.03, 0.0), "Next: asterope-prove"),
    "sets count": (shares(0.015, 0.015), "Next: asterope-prove"),
    "less is not": (shares(0.001, 0.015), "Not worth it"),
    "nothing is known": (shares(None, None), "longer run"),
    "a daemon lives on": ({"outlived_by": 1}, "no daemon"),
    "it failed": ({"warnings": [f"{FAILS} 7"]}, "with a command that succeeds"),
    "of its sandbox": ({"warnings": [f"killed{OF_SANDBOXES}"]}, "with the program's sandbox off"),
}


@pytest.mark.parametrize(("known", "says"), ADVICE.values(), ids=ADVICE)
def test_a_trial_is_advised_where_it_is_worth_it_and_would_see_more(recording, known, says) -> None:
    said = advice({**recording, **known})
    assert says in said and ("prove" in said) == ("prove" in says)


@pytest.mark.parametrize(
    ("of_all", "seen", "says"),
    [(10, 9.9, "Not worth it"), (10, 4, "60 % of this run's CPU time is"), (0, None, "not known")],
)
def test_what_was_not_seen_is_not_said_to_be_little(of_all: float, seen, says: str) -> None:
    little = recording_of(Kind(16, 300, 1e-8), cpu_seconds=of_all, recorded_seconds=seen)
    text = answer(little).replace("\n", " ")
    assert says in text and ("Not worth it" in text) == (says == "Not worth it")


def test_bands_and_places_have_names() -> None:
    assert band_name({"from": 0, "to": 64}) == "below 64 B"
    assert band_name({"from": 1024, "to": 4096}) == "from 1 KiB"
    assert band_name({"from": 4 << 20, "to": None}) == "from 4 MiB"
    for module, function, words in (
        ("/usr/lib/libz.so.1", "inflate", "libz.so.1 inflate"),
        ("/usr/lib/libz.so.1", "", "libz.so.1 0x10"),
        ("", "inflate", "code in no file inflate"),
        ("/usr/lib/" + "l" * 30, "f" * 30, "l" * 15 + "... " + "f" * 18 + "..."),
    ):
        assert place_text(module, function, 16, 40) == words
