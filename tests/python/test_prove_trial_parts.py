"""The parts of a trial decide and say the right things, without a run: ways, looks, notes, the last
line."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from asterope.command_line import DONE
from asterope.faults import BadInput, Failure
from asterope.place_map import counted
from asterope.prove import programs
from asterope.prove.copies import parse_copies
from asterope.prove.options import UNTOLD, parse
from asterope.prove.trial import blocks, command, run
from asterope.prove.trial.blocks import LIBC, LIBC_AGAIN, ROUTINE, Observed, Place, Seen
from asterope.prove.trial.findings import Found, PlaceFound, findings
from asterope.prove.trial.report import report, wanted, write_map
from asterope.prove.trial.run import Trial, Tried
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.trial_words import (
    doubts,
    kernel_line,
    other_ways,
    sentence,
    table,
    what_to_do,
)
from asterope.prove.trial.ways import check_ways, parse_way, ways_of_routine
from asterope.record.kernel import Used
from asterope.record.others import FIRST
from copy_programs import shared_library
from made_up_processes import NO_FLAGS, made_up_process
from profile_samples import plain_profile


def advice(found: Found, observed: Observed, is_over: bool = False) -> str:
    return what_to_do(found, observed, ["./program"], Path("x.so"), None, is_over)


def test_looks_at_what_is_known_take_a_part_of_the_time(monkeypatch, libraries: Path) -> None:
    """Between two looks of four seconds twelve runs of a second each pass."""
    clock, looks = [0.0], []

    def runs(trial: Trial, left: float) -> bool:
        clock[0] += 1
        trial.observed.places[Place("", 0, "small copies", 0)] = Seen(1)
        trial.observed.runs, trial._found = trial.observed.runs + 1, None
        return True

    def looked(*_: object) -> Found:
        clock[0] += 4
        looks.append(clock[0])
        return Found()

    monkeypatch.setattr(run.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(run, "findings", looked)
    monkeypatch.setattr(Trial, "_run", runs)
    trial = Trial(None, ways_of_routine(libraries / "like.so")[:1], Path("recorder.so"), 60.0)
    trial.measure(lambda _: None)
    assert trial.stopped_by == run.TIME and looks == [5, 21, 37, 53]


def test_how_much_a_map_brings_is_known_no_better_than_what_the_routine_alone_does() -> None:
    """That takes 7.1 times as long as libc here, a tenth more or less."""
    alone, mapped = Estimate(-0.86, -0.874, -0.846), Estimate(-0.02, -0.03, -0.01)
    gain = Found(alone, whole_gain=mapped).map_gain
    assert gain.value == pytest.approx(6.0)
    assert 5.2 < gain.low < 5.3 and 6.7 < gain.high < 6.8


@pytest.fixture
def ran(monkeypatch) -> Callable[..., Trial]:
    """A trial after a run that took so much CPU time, by the kernel's account."""

    def ran(seconds: float, *limits: str, recorded: float = 0.0, processes: int = 1) -> Trial:
        def read(trial: Trial, _: object) -> None:
            trial.observed.limits |= set(limits)
            trial.observed.cpu_seconds, trial._cpu_seconds = recorded, seconds
            trial.observed.processes = processes

        monkeypatch.setattr(Trial, "_run_into", lambda *_: True)
        monkeypatch.setattr(Trial, "read", read)
        trial = Trial(None, [], Path("recorder.so"), 1.0)
        assert trial._run(1.0)
        return trial

    return ran


@pytest.mark.parametrize(
    "limit, told", [(blocks.FULL, True), (blocks.NO_COUNTER, False), (blocks.QUIET, False)]
)
def test_time_after_the_last_note_is_no_other_process_s(ran, limit, told: bool) -> None:
    assert (blocks.UNSEEN in ran(1.0, limit).observed.limits) == told


@pytest.mark.parametrize("closed", [None, Path("/root")])
def test_where_other_users_may_not_enter_that_is_the_reason(monkeypatch, ran, closed) -> None:
    monkeypatch.setattr(run, "closed_to_others", lambda _: closed)
    trial = ran(1.0)
    assert blocks.UNSEEN in trial.observed.limits
    last = advice(trial.found(), trial.observed)
    for said in run.why_not(trial), last:
        assert ("have TMPDIR name" in said) == (closed is not None), said
    assert "or another user runs them" in blocks.LIMITS[blocks.UNSEEN]


@pytest.mark.parametrize(
    ("has_ended", "is_quiet", "seconds"),
    [(False, False, 3.0), (True, False, 0.5), (False, True, 0.5)],
)
def test_what_was_seen_of_a_process_counts_where_it_noted_no_end(
    tmp_path, has_ended, is_quiet, seconds
):
    """As one that ends by a system call of its own; but of one that restricts its own, which is not
    tried any more, it counts as such."""
    (tmp_path / "7-0.raw").write_bytes(b"-")
    flags = replace(NO_FLAGS, quiet=is_quiet)
    process = made_up_process([], pid=7, cpu_seconds=0.5, has_ended=has_ended, flags=flags)
    trial = Tried([])
    trial._known = {7: 3.0}
    trial.observed = Observed()
    seen: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "read_process", lambda _: process)
        patch.setattr(run, "read_trial", lambda *of: seen.append(of[3]) or Observed(of[3]))
        trial.read(tmp_path)
    assert trial.observed.cpu_seconds == seconds and seen == [seconds]
    assert trial.observed.restricted == (2.5 if is_quiet else 0)


def test_where_much_is_restricted_nothing_is_told() -> None:
    for restricted, is_told in ((0.09, True), (0.11, False)):
        found = Found(Estimate(0.1, 0.05, 0.15), restricted=restricted)
        last = advice(found, Observed())
        assert found.is_told == is_told
        assert ("LD_PRELOAD" in last) == is_told == ("with its sandbox off" not in last)


def test_in_operation_nobody_knows_how_long_restricted_processes_ran(tmp_path) -> None:
    tried = Tried([])
    (tmp_path / "7-0.raw").write_bytes(b"-")
    flags = replace(NO_FLAGS, quiet=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "read_process", lambda _: made_up_process([], flags=flags))
        patch.setattr(run, "read_trial", lambda *_: Observed())
        tried.read(tmp_path, in_operation=True)
    assert tried.observed.untimed == 1
    found = Found(Estimate(0.0, -0.001, 0.001))
    assert found.is_told and not replace(found, untimed=1).is_told
    said = sentence(replace(found, untimed=1))
    assert "the time of a process that restricts system calls is not known" in said


def test_time_that_is_in_no_account_may_be_of_what_restricted_itself(ran) -> None:
    assert ran(1.0, blocks.QUIET, recorded=0.25).observed.restricted == 0.75


@pytest.mark.parametrize(
    ("seconds", "recorded", "processes", "told"),
    [
        (0.028, 0.008, 2, True),  # a short child without its environment
        (0.014, 0.008, 2, False),
        (0.06, 0.015, 30, False),  # starts and ends of many processes
        (1.0, 0.51, 1, False),
        (1.0, 0.4, 1, True),
    ],
)
def test_most_of_the_time_is_unseen_where_that_is_more_than_starts_and_ends(
    ran, seconds: float, recorded: float, processes: int, told: bool
) -> None:
    observed = ran(seconds, recorded=recorded, processes=processes).observed
    assert (blocks.UNSEEN in observed.limits) == told


@pytest.mark.parametrize("folder, said", [("", "did not load"), ("gone", "no room")])
def test_no_room_is_told_from_a_library_that_is_not_loaded(tmp_path, folder, said: str) -> None:
    trial = Trial(None, [], Path("recorder.so"), 1.0)
    trial.read(tmp_path / folder)
    assert said in run.why_not(trial)


def test_a_disk_that_is_nearly_full_has_no_room_for_a_trial(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "ways_for", lambda _: [])
    monkeypatch.setattr(programs, "folder_of", lambda _: tmp_path)
    monkeypatch.setattr(command, "_ROOM", 1 << 62)
    with pytest.raises(OSError, match="No space left on device"):
        command._prepared(argparse.Namespace(name="own", command=["true"], explore=2))


@pytest.mark.parametrize(
    ("limits", "is_over", "said"),
    [
        (set(), False, "too few copies were seen; a longer run may have more"),
        (set(), True, "give it more --time"),
        ({blocks.UNSEEN}, False, "prove by itself the program that takes the CPU time"),
    ],
)
def test_of_what_is_not_seen_nothing_is_said(limits: set[str], is_over: bool, said: str) -> None:
    observed = Observed(limits=limits)
    found = findings(observed, [LIBC, LIBC_AGAIN, ROUTINE])
    assert advice(found, observed, is_over) == f"Not known: {said}."


@pytest.mark.parametrize(
    ("cycles", "takes", "told"), [(0, 0.9, True), (2, 0.2, True), (3, 0.9, False), (0, 0.05, False)]
)
def test_of_few_long_calls_whole_runs_are_the_advice(cycles: int, takes: float, told) -> None:
    place = Place("/bin/program", 1, "memcpy", 64 << 20)
    found = Found(None, [PlaceFound(place, 180, cycles, 0.0, takes=takes)])
    copied = {place: Seen(180, copied=180 << 26)}
    for pages, says in (
        (Used(12.0, 10.0, 3_000_000), "asterope-prove --runs --tunables -- ./program finds the"),
        (Used(12.0, 1.0, 3_000), "--runs --metric cpu compares whole runs"),
    ):
        observed = Observed(12.0, 12.0, places=copied, used=pages)
        last = advice(found, observed, is_over=True)
        assert (says in last and "too few calls for a trial" in last) == told
        assert told or last == "Not known: give it more --time."


SMALL = Place("/bin/program", 1, "memcpy", 4096)
# The CPU time of a run of 10 s that was ended, whether it has copied, its processes' findings on
# other copies, and the advice, with code 4. None: that of a program with nothing to gain.
ENDED_EARLY = {
    "a server without load": (0.5, True, (), "it waited nearly all the time: give it load"),
    "one that has not copied yet": (0.5, False, (), "it waited nearly all the time: give it load"),
    "a program that has not copied yet": (9.0, False, (), "give it more --time."),
    "a program with copies of its own": (9.0, True, ((FIRST, "/app"),), "--against OTHER compares"),
    "a program that copies little": (9.0, True, (), None),
}


@pytest.mark.parametrize(("cpu", "copies", "said", "advice"), ENDED_EARLY.values(), ids=ENDED_EARLY)
def test_too_little_to_see_is_not_nothing_to_gain(
    monkeypatch, capsys, libraries, cpu, copies, said, advice
):
    places = {SMALL: Seen(9, measured={LIBC: (9, 1e-6)})} if copies else {}
    ways = ways_of_routine(libraries / "like.so")[:1]
    tried = Tried(ways, Observed(cpu, cpu, 1, 1, 1), said=set(said))
    tried.observed.places, tried.observed.lasted = places, 10.0
    tried.stopped_by, tried.is_endless = run.TIME, True
    told = Found(Estimate(0.0, -0.001, 0.001))
    monkeypatch.setattr(Tried, "found", lambda _: told)
    asked = argparse.Namespace(json=None, write=None)
    code = report(tried, ["./program"], asked, 10.0, Path("x.so"))
    shown = capsys.readouterr().out
    assert code == (DONE if advice is None else UNTOLD)
    assert ("Leave it: nothing to gain here." in shown) == (advice is None)
    assert advice is None or ("Not known: " in shown and advice in shown.splitlines()[-1])
    assert ("No copy was seen before this program was ended, after 10.0 s." in shown) != copies
    assert ("Note: app has a memcpy of its own" in shown) == bool(said)


LARGE = Place("/bin/program", 1, "memcpy", 1 << 20)
INTO_FRESH = Observed(places={LARGE: Seen(64, copied=64 << 20)}, used=Used(1.0, 0.6, 17_000))


@pytest.mark.parametrize("ends", [True, False])
def test_a_command_that_ended_by_itself_is_no_server(monkeypatch, capsys, libraries, ends) -> None:
    """Though it waited for most of 20 s, and the time left is too short for another run."""
    clock = [0.0]

    def runs(trial: Trial, left: float) -> bool:
        clock[0] += 20 if ends else left
        trial.observed = replace(INTO_FRESH, cpu_seconds=0.5, processes=1, runs=1, lasted=clock[0])
        return ends

    monkeypatch.setattr(run.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(Trial, "_run", runs)
    told = Found(Estimate(0.0, -0.001, 0.001), [PlaceFound(LARGE, 64, 0, 0.5)])
    monkeypatch.setattr(Tried, "found", lambda _: told)
    trial = Trial(None, ways_of_routine(libraries / "like.so")[:1], Path("recorder.so"), 30.0)
    trial.measure(lambda _: None)
    assert trial.stopped_by == run.TIME
    asked = argparse.Namespace(json=None, write=None)
    code = report(trial, ["./program"], asked, 20.0, Path("x.so"))
    shown = capsys.readouterr().out
    assert code == (DONE if ends else UNTOLD)
    assert ("give it load" in shown) == ("a server needs a --client" in shown) == (not ends)


def test_where_pages_are_the_cost_there_may_be_something_to_gain() -> None:
    found = Found(Estimate(0.0, -0.001, 0.001))
    tunables = "asterope-prove --runs --tunables -- ./program finds"
    assert tunables in advice(found, INTO_FRESH)
    assert "nothing to gain here" in advice(found, Observed())


def test_a_place_shows_another_way_that_is_surely_better_after_few_cycles() -> None:
    place = Place("/bin/program", 1, "memcpy", 64 << 20)
    one = PlaceFound(place, 99, 21, 0.9, {"fresh": Estimate(3.0, 2.9, 3.1)}, best="fresh")
    assert one.is_shown and not replace(one, best=ROUTINE).is_shown
    assert not replace(one, share=0.001).is_shown and not replace(one, possible=False).is_shown


def test_where_pages_are_the_cost_what_saves_them_is_named() -> None:
    (note,) = doubts(INTO_FRESH, ["./program", "--fast"], False)
    assert (
        "asterope-prove --runs --tunables -- ./program --fast finds" in note
        and "--client" not in note
    )
    assert "a server needs a --client" in doubts(INTO_FRESH, ["./server"], True)[0]
    said = kernel_line(INTO_FRESH)
    assert said.startswith("The kernel took 60 % of the CPU time, with 17k page faults (266 for")
    both = Observed()
    both.add(INTO_FRESH)
    both.add(Observed(used=Used(9.0, 0.0, 3)))
    assert doubts(both, ["true"], False) == []
    assert kernel_line(both).startswith("The kernel took 6 % of the CPU time, with 17k page faults")
    assert kernel_line(Observed()) == ""  # in operation the ends of processes are not awaited


def test_a_place_that_copies_into_fresh_memory_says_so() -> None:
    ratios = {ROUTINE: Estimate(1.1, 1.0, 1.2), "fresh": Estimate(3.21, 3.1, 3.3)}
    one = PlaceFound(LARGE, 100, 100, 0.5, ratios, best="fresh", surely=1)
    said = table(Found(None, [one]), {})
    assert "copies into fresh memory: it is 3.2 times as fast with its pages prepared" in said


WANTED = {
    "it saves more than asking costs": ("program", 5e-9, 1),
    "asking costs more": ("program", 3e-9, 0),
    "no file tells the place": ("none", 5e-9, 0),
}


@pytest.mark.parametrize(("file", "saves", "count"), WANTED.values(), ids=WANTED)
def test_a_note_tells_of_what_a_map_would_have_alone(
    libraries, tmp_path: Path, file, saves, count
) -> None:
    place = Place(str(libraries / file), 100, "memcpy", 4096)
    ratios = {ROUTINE: Estimate(0.5, 0.4, 0.6)}
    one = PlaceFound(place, 1000, 100, 0.5, ratios, best=LIBC, saves=saves, surely=-1)
    tried, found = Tried(ways_of_routine(libraries / "like.so")[:1]), Found(None, [one])
    notes = other_ways(wanted(tried, found))
    assert [note.partition(" want")[0] for note in notes] == ["Note: 1 place"] * count
    path = tmp_path / "map"
    lines, has_places = write_map(tried, found, {}, ["true"], path)
    assert lines[0].startswith(f"Wrote {path}: {counted(count)} ") and has_places == bool(count)
    assert len(json.loads(path.read_text())["places"]) == count
    assert "\n" + " " * 79 + "libc       1.000  best" in table(found, {})


def test_where_asterope_is_installed_its_own_command_makes_the_map_s_library(monkeypatch) -> None:
    monkeypatch.setattr(programs, "_is_checkout", lambda: False)
    nothing = findings(Observed(), [LIBC, LIBC_AGAIN, ROUTINE])
    said = what_to_do(nothing, Observed(), ["true"], Path("general.so"), Path("/my own/map.json"))
    own = "'/my own/libasterope_preload.so'"
    compiled = f"asterope-generate --preload {own} --places '/my own/map.json'"
    assert f": {compiled}, then ln -s {own} " in said and "general.so" not in said
    with pytest.raises(BadInput, match="it with asterope-generate --preload"):
        parse_copies(["no.so"])


def test_an_installation_compiles_what_is_older_than_its_sources(monkeypatch, tmp_path) -> None:
    profile, later = tmp_path / "profile.json", time.time() + 1e6
    profile.write_text(json.dumps(plain_profile(platform.machine())))
    monkeypatch.setattr(programs, "_is_checkout", lambda: False)
    monkeypatch.setattr(programs, "profile_to_read", lambda _: profile)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    made = programs.libraries() / programs.PRELOAD
    for own, of_profile, is_old in ((1, 1, True), (later, 1, False), (later, later + 9, True)):
        os.utime(made, (own, own))
        os.utime(profile, (of_profile, of_profile))
        before = made.stat().st_ino
        programs.libraries()
        assert (made.stat().st_ino != before) == is_old
    monkeypatch.setenv("XDG_DATA_HOME", "/proc")
    with pytest.raises(Failure, match="name a library with --routine"):
        programs.libraries()


def test_options_of_whole_runs_ask_for_them() -> None:
    assert not parse(["--", "true"]).runs
    for option in (["--runs"], ["--metric", "cpu"], ["--rounds", "6"], ["--client", "true"]):
        assert parse([*option, "--", "true"]).runs


def test_page_stages_are_tried_from_the_least_size_on_that_has_one(tmp_path: Path) -> None:
    functions = "".join(
        f"void asterope_mem{name}(void) {{}}\n" for name in ("cpy", "set", "cpy_hot", "cpy_fresh")
    )
    ways = ways_of_routine(shared_library(tmp_path / "routine.so", functions))
    assert {way.name: way.least for way in ways} == {"routine": 0, "hot": 0, "fresh": 65536}


def test_the_routines_entry_points_are_ways(libraries: Path) -> None:
    ways = ways_of_routine(libraries / "like.so")
    assert [(way.name, way.copy, way.set) for way in ways] == [
        ("routine", "asterope_memcpy", "asterope_memset"),
        ("hot", "asterope_memcpy_hot", "-"),
    ]
    with pytest.raises(BadInput, match="more than 16 ways"):
        check_ways([*ways, *(parse_way(f"w{n}={libraries}/like.so") for n in range(13))])
