"""Maps of places: written ones are read again, broken or foreign ones are refused in one line."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from asterope.faults import BadInput
from asterope.place_map import MappedPlace, as_c, least_of, read_places, text_of
from asterope.prove.trial import report
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Block, Observed, Place, Seen
from asterope.prove.trial.findings import findings
from command_errors import read_json
from generate_command import assert_old, command, only_line
from profile_samples import good_profile

ENTRIES = ("memcpy", "memcpy_cold")
PLACES = [
    MappedPlace("/lib/libnumpy.so", "00ff" * 10, 0x1234, "copy", "memcpy", 1 << 20, "cold"),
    MappedPlace('/a"b\\\n*/\udcff.so', "ab", 2**63 - 1, "ü", "memset", 512, "libc"),
]
TEXT = text_of(PLACES, ["./program", "*/"])


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "places.json"
        path.write_text(text)
        return path

    return write


def test_what_is_written_is_read_and_is_as_the_schema_says(written) -> None:
    read_json(written(TEXT), "places")
    assert read_places(written(TEXT), ENTRIES) == PLACES


def test_no_text_of_the_map_reaches_c() -> None:
    table = as_c(PLACES)
    words = re.findall(r"[^\W\d]\w+", re.sub(r'".*"', "", table))
    assert set(words) == {
        *("define", "ASTEROPE_PLACES_TEXT", "static", "const", "struct", "asterope_place"),
        *("asterope_places", "asterope_way", "asterope_memcpy_cold", "NULL"),
        *("ASTEROPE_COPIES", "ASTEROPE_SETS"),
    }
    assert table.startswith('#define ASTEROPE_PLACES_TEXT ", 2 places apart"\n')
    cold = "{4660u, 20, ASTEROPE_COPIES, (asterope_way *)asterope_memcpy_cold, 20, {0, 255,"
    assert cold in table
    assert "{9223372036854775807u, 9, ASTEROPE_SETS, NULL, 1, {171}}" in table


def test_copies_smaller_than_any_in_the_map_pay_nothing() -> None:
    large = [dataclasses.replace(PLACES[0], least=1 << power) for power in (20, 40)]
    assert [least_of(one) for one in ([], PLACES, large, large[1:])] == [512, 512, 1 << 20, 1 << 23]


def changed(**fields: object) -> str:
    return edited(lambda whole: whole["places"][0].update(fields))


def edited(edit: Callable[[dict[str, Any]], object]) -> str:
    whole = json.loads(TEXT)
    edit(whole)
    return json.dumps(whole)


TOO_LONG = 'places[0].build_id: "' + 16 * "ab" + '..." is longer than 64 characters'
BAD = {
    "no JSON": ("{", "line 1, column 2: not JSON"),
    "a profile": (json.dumps(good_profile()), 'format: not a map of places ("format" must be'),
    "a newer version": (edited(lambda w: w.update(version=2)), "version: made by a newer asterope"),
    "no places": (edited(lambda w: w.pop("places")), "places: missing"),
    "an unknown field": (changed(more=1), "places[0].more: unknown field"),
    "an unknown way": (changed(way="fast"), 'places[0].way: "fast" is none of libc, hot'),
    "another function": (changed(function="strcpy"), 'places[0].function: "strcpy" is none'),
    "a build id of letters": (changed(build_id="xy"), 'places[0].build_id: "xy" has characters'),
    "a long build id": (changed(build_id="ab" * 33), TOO_LONG),
    "no offset": (changed(offset=0), "places[0].offset: 0 is less than 1"),
    "a small size": (changed(least=256), "places[0].least: 256 is less than 512"),
    "no power of two": (changed(least=1000), "places[0].least: 1000 is no power of two"),
    "no such entry point": (changed(way="hot"), "places[0].way: the profile has no memcpy_hot"),
    "of memset": (changed(function="memset"), "places[0].way: the profile has no memset_cold"),
    "a place twice": (
        edited(lambda w: w["places"].append({**w["places"][0], "way": "libc"})),
        "places[2]: given twice",
    ),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_a_bad_map_is_refused_in_one_line_with_its_place(written, text: str, said: str) -> None:
    path = written(text)
    with pytest.raises(BadInput) as error:
        read_places(path, ENTRIES)
    assert str(error.value).startswith(f"{path}: {said}") and str(error.value).isprintable()


def test_generate_refuses_it_and_leaves_what_is_there(written, profile, out, capsys) -> None:
    for path, said in ((written(changed(way="x")), "places[0].way"), ("none.json", "cannot read")):
        assert command(profile, "-o", out, "--preload", out / "lib.so", "--places", path) == 2
        assert said in only_line(capsys)
    assert_old(out)


# By the file that a place is in: of libc's time, what ways take there.
FACTORS = {
    "losing": {ROUTINE: 1.2},
    "gaining": {ROUTINE: 0.9, "cold": 0.6, "hot": 0.7},
    "fine": {ROUTINE: 0.5, "cold": 0.6},
    "foreign": {ROUTINE: 0.8, "cold": 0.9, "hot": 0.9, "other": 0.5},
    "both": {ROUTINE: 0.8, "cold": 0.6, "other": 0.5},
    "unnamed": {ROUTINE: 1.2},
    "long": {ROUTINE: 1.2},
}


def test_places_enter_where_another_way_is_surely_better(monkeypatch, tmp_path: Path) -> None:
    """With the best of those that a library of the routine has."""
    dice, observed = random.Random(1), Observed(cpu_seconds=10.0, processes=1, runs=1)
    names = [LIBC, LIBC_AGAIN, ROUTINE, "cold", "hot", "other"]

    def block(way: str, factor: float) -> Block:
        return Block(way, [factor * dice.gauss(1, 0.02) for _ in range(5)], [1.0] * 5, 5)

    for module, of in FACTORS.items():
        cycles = [[block(way, of.get(way, 1.0)) for way in names] for _ in range(60)]
        observed.places[Place(module, 8, "memcpy", 1024)] = Seen(1000, 1000, cycles=cycles)
    ids = {"losing": "aa", "gaining": "bb", "foreign": "cc", "both": "dd", "long": "ee" * 33}
    monkeypatch.setattr(report, "build_id_of", lambda module: ids.get(module, ""))
    trial, found = SimpleNamespace(observed=observed, names=names), findings(observed, names)
    path = tmp_path / "p.json"
    lines, has_places = report.write_map(trial, found, {}, ["x"], path)
    ways = {place.build_id: place.way for place in read_places(path, ENTRIES)}
    assert has_places and ways == {"aa": "libc", "bb": "cold", "dd": "cold"}
    assert lines == [
        f"Wrote {path}: 3 places with another way than the routine.",
        "Left out: 2 places in files without a build id, which nothing tells apart.",
        "At 2 places another library's copy is best (other): a map has only the routine's ways.",
    ]
