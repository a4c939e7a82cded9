"""The first answer of asterope-record is right, and fits on a screen."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from asterope.ending import FAILS, OF_SANDBOXES
from asterope.figures import place_text
from asterope.record.kernel import Used
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
    assert text.endswith("Next: asterope-prove -- made-up --fast tells the routine's gain.")
    long_one = {**recording["program"], "command": ["./program", "x" * 100]}
    assert "asterope-prove -- COMMAND tells" in answer({**recording, "program": long_one})


def test_seconds_of_a_long_run_have_no_exponent(recording) -> None:
    text = answer({**recording, "seconds": 3599.6, "cpu_seconds": 99.96})
    assert text.startswith("made-up, 3600 s, 100 s of CPU time, ")


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
    many = {"calls": 10**6, "timed": 1000}
    return {"copies": {"share": copies, **many}, "sets": {"share": sets, **many}}


ADVICE = {
    "2 % are worth it": (shares(0.03, 0.0), "Next: asterope-prove"),
    "sets count": (shares(0.015, 0.015), "Next: asterope-prove"),
    "few timings do not tell": ({"copies": {"share": 0.5, "calls": 99, "timed": 9}}, "longer run"),
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


def test_what_the_kernel_took_is_none_of_the_copies() -> None:
    """Page faults of a copy are in its time, and no copy saves them."""
    kinds = [Kind(1 << 20, 8_000, 1e-3)]
    used = Used(seconds=10, in_kernel=6.5, faults=2_000_000)
    plain, faulting = recording_of(*kinds), recording_of(*kinds, used=used)
    assert plain["copies"]["share"] == pytest.approx(0.8, rel=0.01)
    assert 0.35 < faulting["copies"]["share"] < 0.4
    assert "The kernel took" not in answer(plain)
    said = "The kernel took 65 % of the CPU time, with 2M page faults (250 for each MiB copied): "
    said += "asterope-prove --runs --tunables -- made-up --fast compares ways to save them."
    assert said in " ".join(answer(faulting).split())
    other_work = recording_of(*kinds, used=Used(seconds=10, in_kernel=6.5, faults=9))
    said = "The kernel took 65 % of the CPU time, with 9 page faults, which no routine changes."
    assert said in " ".join(answer(other_work).split())


def test_a_share_of_few_timings_is_called_a_guess() -> None:
    """Where that is not all of the calls."""
    few = recording_of(Kind(64 << 10, 600, 50e-6), cpu_seconds=0.01)
    assert "That is a guess: 10 calls were timed." in " ".join(answer(few).split())
    for known in (Kind(64 << 10, 60_000, 50e-6), Kind(64 << 20, 9, 9e-3)):
        assert "a guess" not in answer(recording_of(known, cpu_seconds=1))


def test_a_place_in_the_program_has_the_name_that_the_user_gave_it(recording) -> None:
    linked = {**recording["program"], "executable": recording["places"][0]["module"]}
    assert "made-up 0x" in answer({**recording, "program": linked})


def test_two_copies_of_one_function_are_told_apart(recording) -> None:
    places = [{**place, "function": "work"} for place in recording["places"]]
    text = answer({**recording, "places": places})
    for place in places:
        assert f"libmade-up.so.1 {place['offset']:#x} work" in text
    assert "libmade-up.so.1 work" in answer({**recording, "places": places[:1]})


def test_bands_and_places_have_names() -> None:
    assert band_name({"from": 0, "to": 64}) == "below 64 B"
    assert band_name({"from": 1024, "to": 4096}) == "from 1 KiB"
    assert band_name({"from": 4 << 20, "to": None}) == "from 4 MiB"
    for module, function, words in (
        ("/usr/lib/libz.so.1", "inflate", "libz.so.1 inflate"),
        ("/usr/lib/libz.so.1", "", "libz.so.1 0x10"),
        ("", "inflate", "code in no file inflate"),
        ("/usr/lib/" + "l" * 30, "f" * 30, "l" * 15 + "... " + "f" * 9 + "..." + "f" * 9),
    ):
        assert place_text(module, function, 16, 40) == words
