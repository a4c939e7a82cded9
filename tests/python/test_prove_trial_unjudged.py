"""What a trial says of places that it could not judge, and of rows that do not add up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from asterope.prove.trial.blocks import LIBC, ROUTINE, Place
from asterope.prove.trial.findings import Found, PlaceFound
from asterope.prove.trial.report import wanted, write_map
from asterope.prove.trial.run import Tried
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.trial_words import after_table, other_ways
from asterope.prove.trial.ways import ways_of_routine

SURE = Estimate(0.1, 0.09, 0.11)


def place(number: int, least: int = 4096) -> Place:
    return Place("/bin/program", number, "memcpy", least)


def row(number: int, gained: Estimate) -> PlaceFound:
    """A place that the table has."""
    ratios = {ROUTINE: Estimate(1.1, 1.0, 1.2)}
    return PlaceFound(place(number), 1000, 100, 0.5, ratios, gained, ROUTINE)


def test_the_places_that_take_most_are_named_where_they_are_not_judged() -> None:
    """Though a place without a whole cycle has no share; and they are counted."""
    taken = (0.02, 0.3, 0.011, 0.2, 0.04, 0.005)
    places = [
        PlaceFound(place(number), 1500, 0, 0.0, takes=part) for number, part in enumerate(taken, 1)
    ]
    names = {one.place: f"f{one.place.offset}" for one in places}
    *lines, last = after_table(Found(SURE, places), names)
    assert lines == [
        f"Not judged by itself: 4KiB.. program f{number} (memcpy), 1.5k calls, at most {part} % of "
        "the CPU time: each way came 0 times, and 30 are needed."
        for number, part in ((2, "30.0"), (4, "20.0"), (5, "4.0"))
    ]
    assert last == "And 2 more, which take less."
    assert len(after_table(Found(SURE, places[:3]), names)) == 3
    assert after_table(Found(SURE, places[5:]), names) == []  # less than matters


def test_copies_without_a_place_of_their_own_are_named_once() -> None:
    small = PlaceFound(Place("", 0, "small copies", 0), 9_000_000, 0, 0.4)
    (said,) = after_table(Found(SURE, [small]), {})
    assert said == (
        "Not judged by itself: small copies, 9M calls: such copies are judged only all together."
    )


@pytest.mark.parametrize(
    ("gained", "says"),
    [
        ((0.09, 0.0), None),
        ((0.2, 0.1), "42.9 % faster (40.0 to 45.8)"),
        ((-0.1, -0.1), "16.7 % slower (15.7 to 17.6)"),
    ],
)
def test_rows_that_do_not_add_up_to_the_first_line_are_summed_up(gained, says) -> None:
    """0.09 saved of the time is 9.9 % faster; the program is 10 % faster here."""
    rows = [
        row(number, Estimate(value, value - 0.01, value + 0.01))
        for number, value in enumerate(gained)
    ]
    found = Found(SURE, rows)
    said = after_table(found, {})
    start = f"Together these are {says}. The first line, of all copies at once, is right"
    assert [line[: len(start)] for line in said] == ([] if says is None else [start])


def test_rows_are_summed_up_only_where_the_first_line_tells_and_they_are_believed() -> None:
    much = row(1, Estimate(0.4, 0.39, 0.41))
    assert len(after_table(Found(SURE, [much]), {})) == 1
    assert after_table(Found(None, [much]), {}) == []
    assert after_table(Found(Estimate(0.0, -0.2, 0.2), [much]), {}) == []
    assert after_table(Found(SURE, [replace(much, possible=False)]), {}) == []


@pytest.mark.parametrize(
    ("takes", "surely", "gained", "is_in"),
    [
        (0.02, 0, -0.005, True),
        (0.009, 0, -0.005, False),  # hidden: too little of the time
        (0.009, -1, -0.005, True),  # a sure loss is shown
        (0.009, -1, -0.0005, False),  # but it brings too little
    ],
)
def test_map_and_note_and_table_have_the_same_places(
    libraries, tmp_path: Path, takes, surely, gained, is_in
) -> None:
    where = Place(str(libraries / "program"), 100, "memcpy", 4096)
    ratios, brings = {ROUTINE: Estimate(0.5, 0.4, 0.6)}, Estimate(gained, gained, gained)
    one = PlaceFound(
        *(where, 1000, 100, 0.5, ratios, brings, LIBC, 5e-9), surely=surely, takes=takes
    )
    tried, found = Tried(ways_of_routine(libraries / "like.so")[:1]), Found(SURE, [one])
    path = tmp_path / "map"
    _, has_places = write_map(tried, found, {}, ["true"], path)
    mapped = json.loads(path.read_text())["places"]
    assert has_places == is_in == bool(found.shown) == bool(mapped)
    assert len(other_ways(wanted(tried, found))) == is_in
