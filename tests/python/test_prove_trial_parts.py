"""The parts of a trial decide and say the right things, without a run: ways, looks, bounds, notes,
the last line."""

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
from asterope.command_line import DONE, STALE
from asterope.faults import BadInput, Failure
from asterope.figures import counted
from asterope.program import find_program
from asterope.prove import programs
from asterope.prove.copies import parse_copies
from asterope.prove.options import UNTOLD, parse
from asterope.prove.trial import blocks, command, run
from asterope.prove.trial import trial_words as words
from asterope.prove.trial.blocks import LIBC, ROUTINE, Observed, Place, Seen
from asterope.prove.trial.findings import Found, PlaceFound, findings
from asterope.prove.trial.possible import Possible
from asterope.prove.trial.report import code_of, report, wanted, write_map
from asterope.prove.trial.run import Trial, Tried
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.ways import Way, check_ways, parse_way, ways_of_routine
from asterope.record.kernel import Used
from asterope.record.others import FIRST
from copy_programs import shared_library
from made_up_processes import made_up_process
from made_up_trials import PLACE, WAYS, observed_of, steady
from profile_samples import plain_profile

SURE, SAME = Estimate(0.1, 0.09, 0.11), Estimate(0.0, -0.001, 0.001)


def advice(found: Found, observed: Observed, is_over: bool = False) -> str:
    return words.what_to_do(found, observed, ["./program"], Path("x.so"), None, is_over, None)


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(run.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def routine(libraries: Path) -> list[Way]:
    """The routine alone."""
    return ways_of_routine(libraries / "like.so")[:1]


def test_looks_at_what_is_known_take_a_part_of_the_time(monkeypatch, clock, routine) -> None:
    """Between two looks of four seconds twelve runs of a second each pass."""
    looks: list[float] = []

    def runs(trial: Trial, left: float) -> bool:
        clock[0] += 1
        trial.observed.places[Place("", 0, "small copies", 0)] = Seen(1)
        trial.observed.runs, trial._found = trial.observed.runs + 1, None
        return True

    def looked(*_: object) -> Found:
        clock[0] += 4
        looks.append(clock[0])
        return Found()

    monkeypatch.setattr(run, "findings", looked)
    monkeypatch.setattr(Trial, "_run", runs)
    trial = Trial(find_program(["true"]), routine, Path("recorder.so"), 60.0)
    trial.measure(lambda _: None)
    assert trial.stopped_by == run.TIME and looks == [5, 21, 37, 53]


def test_how_much_a_map_brings_is_known_no_better_than_what_the_routine_alone_does() -> None:
    """That takes 7.1 times as long as libc here, a tenth more or less."""
    alone, mapped = Estimate(-0.86, -0.874, -0.846), Estimate(-0.02, -0.03, -0.01)
    gain = Found(alone, map_gain=mapped).gain_over_routine
    assert gain.value == pytest.approx(6.0)
    assert 5.2 < gain.low < 5.3 and 6.7 < gain.high < 6.8


def test_a_map_that_loses_to_the_routine_decides_nothing() -> None:
    loses = Found(SURE, map_gain=Estimate(-0.05, -0.06, -0.04), has_map=True)
    assert "so the map is not taken." in words.sentence_of_map(loses)
    assert advice(loses, Observed()).startswith("To have it: ") and code_of(loses, None) == DONE
    wins = Found(Estimate(-0.05, -0.06, -0.04), map_gain=SURE, has_map=True)
    assert advice(wins, Observed()).startswith("To have it: ") and code_of(wins, None) == DONE
    assert code_of(replace(wins, map_gain=wins.gain), None) == STALE


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
        trial = Trial(find_program(["true"]), [], Path("recorder.so"), 1.0)
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
    monkeypatch, tmp_path, has_ended, is_quiet, seconds
):
    """As one that ends by a system call of its own; but of one that restricts its own, which is not
    tried any more, it counts as such."""
    (tmp_path / "7-0.raw").write_bytes(b"-")
    flags = {"quiet"} if is_quiet else frozenset()
    process = made_up_process([], pid=7, cpu_seconds=0.5, has_ended=has_ended, flags=flags)
    trial = Tried([])
    trial._known = {7: 3.0}
    monkeypatch.setattr(run, "read_process", lambda _: process)
    monkeypatch.setattr(run, "read_trial", lambda *of: Observed(of[3]))
    trial.read(tmp_path)
    assert trial.observed.cpu_seconds == seconds
    assert trial.observed.restricted == (2.5 if is_quiet else 0)


def test_where_much_is_restricted_nothing_is_told() -> None:
    for restricted, is_told in ((0.09, True), (0.11, False)):
        found = Found(Estimate(0.1, 0.05, 0.15), restricted=restricted)
        last = advice(found, Observed())
        assert found.is_told == is_told
        assert ("LD_PRELOAD" in last) == is_told == ("with its sandbox off" not in last)


def test_in_operation_nobody_knows_how_long_restricted_processes_ran(monkeypatch, tmp_path) -> None:
    tried = Tried([])
    (tmp_path / "7-0.raw").write_bytes(b"-")
    process = made_up_process([], flags={"quiet"})
    monkeypatch.setattr(run, "read_process", lambda _: process)
    monkeypatch.setattr(run, "read_trial", lambda *_: Observed())
    tried.read(tmp_path, in_operation=True)
    assert tried.observed.untimed == 1
    found = Found(SAME, untimed=1)
    assert Found(SAME).is_told and not found.is_told
    assert "the time of a process that restricts system calls is not known" in words.sentence(found)


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
    trial = Trial(find_program(["true"]), [], Path("recorder.so"), 1.0)
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
    found = findings(observed, WAYS)
    assert advice(found, observed, is_over) == f"Not known: {said}."


def test_that_the_map_s_trial_had_too_little_time_is_told(monkeypatch, capsys, routine) -> None:
    observed = Observed(places={PLACE: Seen(9)}, processes=1)
    monkeypatch.setattr(Tried, "found", lambda _: Found(has_map=True))
    ways = (Tried(routine, observed, stopped_by=reason) for reason in (run.KNOWN, run.TIME))
    report(next(ways), ["./program"], NOTHING_WRITTEN, 9.0, Path("x.so"), next(ways))
    assert capsys.readouterr().out.endswith("Not known: give it more --time.\n")


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


NOTHING_WRITTEN = argparse.Namespace(json=None, write=None)
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
    monkeypatch, capsys, routine, cpu, copies, said, advice
):
    places = {SMALL: Seen(9, measured={LIBC: (9, 1e-6)})} if copies else {}
    observed = Observed(cpu, cpu, 1, 1, 1, lasted=10.0, places=places)
    tried = Tried(routine, observed, None, run.TIME, is_endless=True, said=set(said))
    monkeypatch.setattr(Tried, "found", lambda _: Found(SAME))
    code = report(tried, ["./program"], NOTHING_WRITTEN, 10.0, Path("x.so"))
    shown = capsys.readouterr().out
    assert code == (DONE if advice is None else UNTOLD)
    assert ("Leave it: nothing to gain here." in shown) == (advice is None)
    assert advice is None or ("Not known: " in shown and advice in shown.splitlines()[-1])
    assert ("No copy was seen before this program was ended, after 10.0 s." in shown) != copies
    assert ("Note: app has a memcpy of its own" in shown) == bool(said)


LARGE = Place("/bin/program", 1, "memcpy", 1 << 20)
INTO_FRESH = Observed(places={LARGE: Seen(64, copied=64 << 20)}, used=Used(1.0, 0.6, 17_000))


@pytest.mark.parametrize("ends", [True, False])
def test_a_command_that_ended_by_itself_is_no_server(
    monkeypatch, capsys, clock, routine, ends
) -> None:
    """Though it waited for most of 20 s, and the time left is too short for another run."""

    def runs(trial: Trial, left: float) -> bool:
        clock[0] += 20 if ends else left
        trial.observed = replace(INTO_FRESH, cpu_seconds=0.5, processes=1, runs=1, lasted=clock[0])
        return ends

    monkeypatch.setattr(Trial, "_run", runs)
    monkeypatch.setattr(Tried, "found", lambda _: Found(SAME, [PlaceFound(LARGE, 64, 0, 0.5)]))
    trial = Trial(find_program(["true"]), routine, Path("recorder.so"), 30.0)
    trial.measure(lambda _: None)
    assert trial.stopped_by == run.TIME
    code = report(trial, ["./program"], NOTHING_WRITTEN, 20.0, Path("x.so"))
    shown = capsys.readouterr().out
    assert code == (DONE if ends else UNTOLD)
    assert ("give it load" in shown) == ("a server needs a --client" in shown) == (not ends)


def test_where_pages_are_the_cost_there_may_be_something_to_gain() -> None:
    found = Found(SAME)
    tunables = "asterope-prove --runs --tunables -- ./program finds"
    assert tunables in advice(found, INTO_FRESH)
    assert "nothing to gain here" in advice(found, Observed())


def test_a_place_shows_another_way_that_is_surely_better_after_few_cycles() -> None:
    place = Place("/bin/program", 1, "memcpy", 64 << 20)
    one = PlaceFound(place, 99, 21, 0.9, {"fresh": Estimate(3.0, 2.9, 3.1)}, best="fresh")
    assert one.is_shown and not replace(one, best=ROUTINE).is_shown
    assert not replace(one, share=0.001).is_shown and not replace(one, possible=False).is_shown


def test_where_pages_are_the_cost_what_saves_them_is_named() -> None:
    (note,) = words.doubts(INTO_FRESH, ["./program", "--fast"], False)
    assert (
        "asterope-prove --runs --tunables -- ./program --fast finds" in note
        and "--client" not in note
    )
    assert "a server needs a --client" in words.doubts(INTO_FRESH, ["./server"], True)[0]
    said = words.kernel_line(INTO_FRESH)
    assert said.startswith("The kernel took 60 % of the CPU time, with 17k page faults (266 for")
    both = Observed()
    both.add(INTO_FRESH)
    both.add(Observed(used=Used(9.0, 0.0, 3)))
    assert words.doubts(both, ["true"], False) == []
    assert words.kernel_line(both).startswith(
        "The kernel took 6 % of the CPU time, with 17k page faults"
    )
    assert words.kernel_line(Observed()) == ""  # in operation the ends of processes are not awaited


def test_a_place_that_copies_into_fresh_memory_says_so() -> None:
    ratios = {ROUTINE: Estimate(1.1, 1.0, 1.2), "fresh": Estimate(3.21, 3.1, 3.3)}
    one = PlaceFound(LARGE, 100, 100, 0.5, ratios, best="fresh", surely=1)
    said = words.table(Found(None, [one]), {})
    assert "copies into fresh memory: it is 3.2 times as fast with its pages prepared" in said


SLOWER = {ROUTINE: Estimate(0.5, 0.4, 0.6)}


def assert_mapped(routine: list[Way], folder: Path, one: PlaceFound, count: int) -> None:
    """So many places are noted, written and counted."""
    tried, found, path = Tried(routine), Found(SURE, [one]), folder / "map"
    notes = words.other_ways(wanted(tried, found))
    assert [note.partition(" want")[0] for note in notes] == ["Note: 1 place"] * count
    lines, has_places = write_map(tried, found, {}, ["true"], path)
    assert lines[0].startswith(f"Wrote {path}: {counted(count, 'place')} ") and has_places == bool(
        count
    )
    assert len(json.loads(path.read_text())["places"]) == count


WANTED = {
    "it saves more than asking costs": ("program", 5e-9, 1),
    "asking costs more": ("program", 3e-9, 0),
    "no file tells the place": ("none", 5e-9, 0),
}


@pytest.mark.parametrize(("file", "saves", "count"), WANTED.values(), ids=WANTED)
def test_a_note_tells_of_what_a_map_would_have_alone(
    libraries, routine, tmp_path: Path, file, saves, count
) -> None:
    place = Place(str(libraries / file), 100, "memcpy", 4096)
    one = PlaceFound(place, 1000, 100, 0.5, SLOWER, best=LIBC, saves=saves, surely=-1)
    assert_mapped(routine, tmp_path, one, count)
    assert "\n" + " " * 79 + "libc       1.000  best" in words.table(Found(None, [one]), {})


def test_where_asterope_is_installed_its_own_command_makes_the_map_s_library(monkeypatch) -> None:
    monkeypatch.setattr(programs, "_is_checkout", lambda: False)
    nothing = findings(Observed(), WAYS)
    said = words.what_to_do(
        nothing, Observed(), ["true"], Path("general.so"), Path("/my own/map.json"), False, None
    )
    own = "'/my own/libasterope_preload.so'"
    compiled = f"asterope-generate --preload {own} --places '/my own/map.json'"
    assert f": {compiled}, then ln -sfn {own} " in said and "general.so" not in said
    with pytest.raises(BadInput, match="it with asterope-generate --preload"):
        parse_copies(["lib.so"], may_be_libc=False)


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


# --- No verdict is beyond the time that the copies themselves take ---


def found_of(factor: float, share: float, routine: float = 1.0) -> Found:
    """The findings on a made-up place. From one call to the next, the routine takes `factor` times
    as long as libc. Of libc's time, the part `share` is the copy alone. The routine's copy alone
    takes `routine` times as long as libc's."""
    observed = observed_of({PLACE: steady(factor)}, 1, pairs=100)
    count = observed.places[PLACE].calls
    seconds = share * count  # a call takes one, to the next one
    observed.places[PLACE].measured = {LIBC: (count, seconds), ROUTINE: (count, routine * seconds)}
    return findings(observed, WAYS)


@pytest.mark.parametrize("factor", [0.7, 1.6])
def test_more_than_the_copies_can_bring_is_an_error_of_the_method(factor: float) -> None:
    found = found_of(factor, 0.05)
    assert not found.is_told and code_of(found, None) == UNTOLD
    why = "the trial shows a larger difference than all of its copies can make"
    assert f"cannot be told: {why}" in words.sentence(found)
    assert not any(verdict in words.sentence(found) for verdict in ("faster (", "slower ("))
    advice = words.what_to_do(found, Observed(), ["true"], Path("x.so"), None, False, None)
    assert advice == "Not known: --runs --metric cpu compares whole runs."
    (place,) = found.places
    assert (place.best, place.possible, found.slower) == (None, False, [])
    assert "than its calls can make: it is not sure" in words.table(found, {})


@pytest.mark.parametrize("limit", [blocks.THREADS_FULL, blocks.NO_WAY])
def test_where_some_copies_were_not_counted_nothing_bounds_a_difference(limit: str) -> None:
    for factor, told in ((0.5, False), (1.0, True)):
        observed = observed_of({PLACE: steady(factor)}, 1, pairs=300)
        observed.limits.add(limit)
        found = findings(observed, WAYS)
        assert found.is_told == told
        assert ("not all of its copies were counted" in words.sentence(found)) != told


@pytest.mark.parametrize("restricted", [0.0, 0.05])
def test_time_in_which_copies_were_not_counted_may_be_all_copies(restricted: float) -> None:
    observed = observed_of({PLACE: steady(1.0)}, 1, pairs=100)
    count, seconds = observed.places[PLACE].calls, observed.cpu_seconds
    observed.places[PLACE].measured = {way: (count, 0.02 * seconds) for way in (LIBC, ROUTINE)}
    observed.restricted, observed.limits = restricted * seconds, {blocks.QUIET}
    assert findings(observed, WAYS).possible.share == pytest.approx(0.022 + restricted, abs=0.005)


# The last one is of a program that does nothing else.
CAN = [(0.7, 0.5, 0.4), (1.6, 0.6, 2.0), (7.0, 1.0, 7.0)]


@pytest.mark.parametrize(("factor", "share", "routine"), CAN)
def test_what_they_can_bring_is_told(factor: float, share: float, routine: float) -> None:
    found = found_of(factor, share, routine)
    assert found.is_told and found.places[0].possible
    assert found.gain.low < 1 / factor - 1 < found.gain.high


def test_an_estimate_may_be_beyond_by_luck() -> None:
    """It ends at the bound then."""
    most = Possible(share=0.2, loss=0.4)
    assert most.holds(Estimate(0.26, 0.22, 0.30)) and not most.holds(Estimate(0.3, 0.24, 0.36))
    assert Estimate(0.26, 0.22, 0.30).clipped(*most.gain) == Estimate(0.25, 0.22, 0.25)


def test_of_a_way_that_was_not_measured_the_other_one_is_no_bound() -> None:
    """The routine's copies take next to nothing; libc's may take all of the time."""
    observed = Observed(cpu_seconds=0.001)
    observed.places[PLACE] = Seen(100, measured={ROUTINE: (100, 1e-9)})
    assert not findings(observed, WAYS).is_negligible


def test_a_sure_difference_of_nothing_is_none() -> None:
    found = Found(Estimate(-0.0003, -0.0006, -0.0001))
    assert "is as fast as with libc, within 0.1 %" in words.sentence(found)
    assert code_of(found, None) == DONE


def test_copies_that_take_next_to_nothing_need_no_trial() -> None:
    """However few were seen."""
    observed = observed_of({PLACE: steady(1.0)}, 1, pairs=3)
    count = observed.places[PLACE].calls
    observed.places[PLACE].measured = {LIBC: (count, 0.002 * observed.cpu_seconds)}
    found = findings(observed, WAYS)
    assert found.is_told and "is as fast as with libc, within 0." in words.sentence(found)
    line = words.clock_line(found, observed)
    assert line.endswith("No way of copying can be felt then.") and "Not judged" not in line


# --- Places that could not be judged, and rows that do not add up ---


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
    *lines, last = words.after_table(Found(SURE, places), names)
    assert lines == [
        f"Not judged by itself: 4KiB.. program f{number} (memcpy), 1.5k calls, at most {part} % of "
        "the CPU time: each way came 0 times, and 30 are needed."
        for number, part in ((2, "30.0"), (4, "20.0"), (5, "4.0"))
    ]
    assert last == "And 2 more, which take less."
    assert len(words.after_table(Found(SURE, places[:3]), names)) == 3
    assert words.after_table(Found(SURE, places[5:]), names) == []  # less than matters


def test_copies_without_a_place_of_their_own_are_named_once() -> None:
    small = PlaceFound(Place("", 0, "small copies", 0), 9_000_000, 0, 0.4)
    (said,) = words.after_table(Found(SURE, [small]), {})
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
    said = words.after_table(found, {})
    start = f"Together these are {says}. The program's line, of all copies at once, is right"
    assert [line[: len(start)] for line in said] == ([] if says is None else [start])


def test_rows_are_summed_up_only_where_the_programs_line_tells_and_they_are_believed() -> None:
    much = row(1, Estimate(0.4, 0.39, 0.41))
    assert len(words.after_table(Found(SURE, [much]), {})) == 1
    assert words.after_table(Found(None, [much]), {}) == []
    assert words.after_table(Found(Estimate(0.0, -0.2, 0.2), [much]), {}) == []
    assert words.after_table(Found(SURE, [replace(much, possible=False)]), {}) == []


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
    libraries, routine, tmp_path: Path, takes, surely, gained, is_in
) -> None:
    where = Place(str(libraries / "program"), 100, "memcpy", 4096)
    about = (where, 1000, 100, 0.5, SLOWER, Estimate(gained, gained, gained), LIBC, 5e-9)
    one = PlaceFound(*about, surely=surely, takes=takes)
    assert one.is_shown == is_in
    assert_mapped(routine, tmp_path, one, int(is_in))
