"""asterope-prove as a trial inside one run: real programs, and a routine whose cost is known."""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from asterope.faults import BadInput
from asterope.place_map import counted
from asterope.prove import programs
from asterope.prove.copies import parse_copies
from asterope.prove.options import parse
from asterope.prove.trial import run
from asterope.prove.trial.blocks import (
    FULL,
    LIBC,
    LIBC_AGAIN,
    NO_COUNTER,
    QUIET,
    ROUTINE,
    UNSEEN,
    Observed,
    Place,
    Seen,
)
from asterope.prove.trial.finalists import RANKS, ways_of_finalists
from asterope.prove.trial.findings import Found, PlaceFound, findings
from asterope.prove.trial.mapping import map_of, wanted
from asterope.prove.trial.run import Trial, Tried
from asterope.prove.trial.statistics import Estimate
from asterope.prove.trial.ways import check_ways, parse_way, ways_of_routine
from asterope.prove.trial.words import other_ways, table, what_to_do
from copy_programs import output_of, shared_library
from profile_samples import good_profile, plain_profile
from prove_command import interrupted_output, only_error, runs, settings_of

LIBRARY = """
#include <stddef.h>
static void spin(void) { for (volatile int i = 0; i < SPIN; ++i) { } }
void *asterope_memcpy(void *to, const void *from, size_t bytes);
void *asterope_memcpy_hot(void *to, const void *from, size_t bytes);
void *asterope_memcpy(void *to, const void *from, size_t bytes)
{
    void *target = to;
    spin();
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}
void *asterope_memcpy_hot(void *to, const void *from, size_t bytes)
{
    return asterope_memcpy(to, from, bytes);
}
"""
PROGRAM = """
#include <string.h>
#include <stdlib.h>
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
int main(int count, char **words)
{
    static char from[8192], to[8192];
    for (long i = atol(words[1]); i > 0; --i) copy(to, from, sizeof to);
    return count > 2 ? atoi(words[2]) : 0;
}
"""


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("things")
    for name, spin in (("slow", 1500), ("like", 0)):
        shared_library(folder / f"{name}.so", LIBRARY.replace("SPIN", str(spin)))
    shared_library(folder / "nothing.so", "int unused;\n")
    source = folder / "program.c"
    source.write_text(PROGRAM)
    flags = ("-O2", "-fno-builtin", "-Wl,--build-id")
    output_of("cc", *flags, source, "-o", folder / "program")
    output_of("cc", "-O2", "-static", source, "-o", folder / "static")
    return folder


@pytest.fixture
def settings(repository, build_dir, things: Path, tmp_path: Path) -> Callable[..., dict]:
    (tmp_path / "tmp").mkdir()

    def of(*arguments: object, routine: str = "slow") -> dict:
        named = [f"--routine={things / routine}.so"] if routine else []
        return settings_of(repository, tmp_path, *named, *arguments, ASTEROPE_BUILD_DIR=build_dir)

    return of


@pytest.fixture
def prove(settings, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    return runs(settings, tmp_path)


def test_a_slower_routine_is_found_named_and_advised_against(
    prove, things: Path, repository: Path, tmp_path: Path
) -> None:
    """And the place that wants another way is written."""
    file, mapping = tmp_path / "trial.json", tmp_path / "places.json"
    run = ("--time", "20s", "--json", file, "--write", mapping, "--", things / "program", 800_000)
    done = prove(*run)
    assert (done.returncode, done.stderr) == (3, ""), done
    lines = done.stdout.splitlines()
    assert lines[0].startswith("With the routine this program runs ")
    assert "% slower (" in lines[0] and lines[0].endswith("; it is slower than libc at 1 place.")
    assert "program main (memcpy)" in done.stdout and "8KiB.." in done.stdout
    found = json.loads(file.read_text())
    schema = json.loads((repository / "scripts/asterope/trial.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(found, schema)
    (place,) = found["places"]
    assert (place["module"], place["caller"]) == (str(things / "program"), "main")
    assert found["gain"]["high"] < 0 and place["ratios"]["routine"]["high"] < 1

    (mapped,) = json.loads(mapping.read_text())["places"]
    build = output_of("readelf", "-nW", things / "program")
    assert f"Build ID: {mapped.pop('build_id')}\n" in build
    assert mapped.pop("way") == place["best"] == "libc"
    assert mapped == {name: place[name] for name in mapped}
    assert lines[-2] == f"Wrote {mapping}: 1 place with another way than the routine."
    assert lines[-1].startswith(f"To give each place its way: scripts/tune --places {mapping}, ")


@pytest.mark.parametrize("option", ["--json", "--write"])
def test_what_cannot_be_written_is_shown_all_the_same(prove, things: Path, option: str) -> None:
    done = prove("--time", "3s", option, "/dev/full", "--", things / "program", 20_000)
    assert only_error(done, 1) == (
        "asterope-prove: /dev/full: cannot write: No space left on device"
    )
    assert "program main (memcpy)" in done.stdout and "Wrote" not in done.stdout


def test_a_short_program_is_run_again(prove, things: Path, tmp_path: Path) -> None:
    file = tmp_path / "trial.json"
    shell = ("sh", "-c", f"{things / 'program'} 20000; exit")  # whose time is not the program's
    prove("--time", "3s", "--json", file, "--", *shell)
    found = json.loads(file.read_text())
    assert 1 < found["runs"] < found["processes"] and found["wall_seconds"] <= found["seconds"]


def test_a_program_that_does_not_end_is_ended_when_the_time_is_over(prove, things: Path) -> None:
    began = time.monotonic()
    done = prove("--time", "2s", "--", things / "program", 10**12)
    assert time.monotonic() - began < 60
    assert done.returncode == 3 and "% slower (" in done.stdout
    *_, note, advice = done.stdout.splitlines()
    assert note.startswith("Note: 1 place wants another way than the routine: --write PLACES")
    assert advice == "Leave it: the routine makes this program slower."


def test_looks_at_what_is_known_take_a_part_of_the_time(monkeypatch, things: Path) -> None:
    """Of runs that take a second each, twelve pass between two looks of four seconds."""
    clock, looks = [0.0], []

    def runs(trial: Trial, left: float) -> bool:
        clock[0] += 1
        trial.observed.places[Place("", 0, "small copies", 0)] = Seen(1)
        trial.observed.runs, trial._found = trial.observed.runs + 1, None
        return True

    def looked(*_: object) -> Found:
        clock[0] += 4
        looks.append(clock[0])
        return Found(None, None, [], 1.0)

    monkeypatch.setattr(run.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(run, "findings", looked)
    monkeypatch.setattr(Trial, "_run", runs)
    trial = Trial(None, ways_of_routine(things / "like.so")[:1], Path("recorder.so"), 60.0)
    trial.measure(lambda _: None)
    assert trial.stopped_by == run.TIME and looks == [5, 21, 37, 53]


@pytest.mark.parametrize("limit, told", [(FULL, True), (NO_COUNTER, False), (QUIET, False)])
def test_time_after_the_last_note_is_no_other_process_s(monkeypatch, limit, told: bool) -> None:
    def recorded(trial: Trial, _: object) -> float:
        trial.observed.limits.add(limit)
        trial._cpu_seconds = 1.0
        return 0.01

    monkeypatch.setattr(Trial, "_run_into", lambda *_: True)
    monkeypatch.setattr(Trial, "read", recorded)
    trial = Trial(None, [], Path("recorder.so"), 1.0)
    assert trial._run(1.0) and (UNSEEN in trial.observed.limits) == told


def test_other_libraries_are_ways_too(prove, things: Path, tmp_path: Path) -> None:
    file = tmp_path / "trial.json"
    other = f"other={things / 'slow.so'}:asterope_memcpy_hot"
    options = ("--time", "5s", "--json", file, "--copy", other)
    prove(*options, "--", things / "program", 300_000, routine="like")
    found = json.loads(file.read_text())
    assert [way["name"] for way in found["ways"]] == ["routine", "hot", "other"]
    place = found["places"][0]
    assert place["left_early"] == ["other"] and place["ratios"]["other"]["high"] < 1


UNKNOWN = {
    "too little is seen": (set(), "Not known: too few copies were seen"),
    "most is not seen": ({UNSEEN}, "Not known: prove what takes the CPU time by itself."),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_of_what_is_not_seen_nothing_is_said(case: str) -> None:
    limits, said = UNKNOWN[case]
    observed = Observed(limits=limits)
    found = findings(observed, [LIBC, LIBC_AGAIN, ROUTINE])
    assert what_to_do(found, observed, ["true"], Path("x.so"), None).startswith(said)


WANTED = {
    "it saves more than asking costs": ("program", 5e-9, 1),
    "asking costs more": ("program", 3e-9, 0),
    "no file tells the place": ("none", 5e-9, 0),
}


@pytest.mark.parametrize("case", WANTED)
def test_a_note_tells_of_what_a_map_would_have_alone(things: Path, case: str) -> None:
    file, saves, count = WANTED[case]
    place = Place(str(things / file), 100, "memcpy", 4096)
    ratios = {ROUTINE: Estimate(0.5, 0.4, 0.6)}
    one = PlaceFound(place, 1000, 100, 0.5, ratios, best=LIBC, saves=saves, surely=-1)
    tried, found = Tried(ways_of_routine(things / "like.so")[:1]), Found(None, None, [one], 1.0)
    notes = other_ways(wanted(tried, found))
    assert [note.partition(" want")[0] for note in notes] == ["Note: 1 place"] * count
    _, lines, _ = map_of(tried, found, {}, ["true"], Path("map"))
    assert lines[0].startswith(f"Wrote map: {counted(count)} ")
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


def test_an_installation_compiles_what_is_older_than_its_templates(
    monkeypatch, tmp_path: Path
) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(plain_profile(platform.machine())))
    os.utime(profile, (1, 1))
    monkeypatch.setattr(programs, "_is_checkout", lambda: False)
    monkeypatch.setattr(programs, "profile_to_read", lambda _: profile)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    made = programs.libraries() / programs.PRELOAD
    for when in (1, time.time() + 1e6):
        os.utime(made, (when, when))
        before = made.stat().st_mtime_ns
        programs.libraries()
        assert (made.stat().st_mtime_ns != before) == (when == 1)
    monkeypatch.setenv("XDG_DATA_HOME", "/proc")
    with pytest.raises(BadInput, match="name a library with --routine"):
        programs.libraries()


def test_a_program_that_copies_nothing_gains_nothing(prove) -> None:
    done = prove("--", "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "Leave it: nothing to gain here."


def test_where_files_find_no_room_nothing_is_said_of_the_program(settings, things: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    settings = settings("--", things / "program", 1000)
    done = subprocess.run(**settings, preexec_fn=limit)
    assert only_error(done, 1).endswith(": have TMPDIR name a folder with more")


def test_a_run_that_fails_says_how_and_whether_it_does_so_alone(prove, things: Path) -> None:
    said = only_error(prove("--", things / "program", 10, 3), 1)
    assert "program ended with exit code 3, as it does without the trial" in said
    under = 'case "$LD_PRELOAD" in *asterope*) exit 4;; esac'
    said = only_error(prove("--", "sh", "-c", under), 1)
    assert said.endswith("sh ended with exit code 4")


def test_what_was_seen_before_a_failure_is_shown(prove, things: Path, tmp_path: Path) -> None:
    done = prove("--", things / "program", 2_000_000, 5)
    assert "program main (memcpy)" in done.stdout
    assert "exit code 5" in only_error(done, 1)


def test_an_interrupt_shows_what_is_known(settings, things: Path, tmp_path: Path) -> None:
    def it_copies(_: subprocess.Popen) -> bool:
        if not list((tmp_path / "tmp").glob("*/*/files/*.raw")):
            return False
        time.sleep(2)
        return True

    running = settings("--time", "60s", "--", things / "program", 10**12)
    assert "program main (memcpy)" in interrupted_output(running, it_copies, signal.SIGINT)


# --- What is kept under a name ---


@pytest.fixture
def named(settings, build_dir: Path, things: Path, tmp_path: Path):
    """asterope-prove with a build of its own, whose routine is slow, and a profile."""
    built, profile = tmp_path / "build", tmp_path / "config" / "asterope" / "profile.json"
    built.mkdir()
    profile.parent.mkdir(parents=True)
    shutil.copy(build_dir / "libasterope_record.so", built)
    shutil.copy(things / "slow.so", built / "libasterope_memcpy.so")
    profile.write_text(json.dumps(plain_profile(platform.machine())))

    config = {"ASTEROPE_BUILD_DIR": str(built), "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def run(*arguments: object) -> subprocess.CompletedProcess:
        given = settings(*arguments, routine="")
        given["env"] |= config
        return subprocess.run(**given, timeout=300)

    return run


def test_a_name_keeps_a_map_and_its_library_which_is_tried_as_a_whole(
    named, things: Path, tmp_path: Path
) -> None:
    file, kept = tmp_path / "trial.json", tmp_path / "build" / "programs" / "own"
    options = ("--name", "own", "--time", "5s", "--json", file)
    done = named(*options, "--", things / "program", 400_000)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("With the routine and its map of places it runs "), done
    assert "than with the routine alone" in lines[0] and "% slower" in lines[1]
    (place,) = json.loads((kept / "places.json").read_text())["places"]
    assert (place["caller"], place["way"]) == ("main", "libc")
    assert json.loads(file.read_text())["map_gain"]["low"] > -0.5
    library = kept / "libasterope_preload.so"
    assert f"LD_PRELOAD={library}" in named("list").stdout
    under = {**os.environ, "LD_PRELOAD": str(library), "ASTEROPE_VERBOSE": "1"}
    said = subprocess.run([things / "program", "1"], env=under, capture_output=True)
    assert said.returncode == 0 and said.stderr.endswith(b", 1 place apart\n")

    assert named("merge", "own").returncode == 2
    for _ in range(2):
        explored = named("--explore", 2, "--name", "own", "--", things / "program", 12_000_000)
        assert explored.stdout == ""
    merged = named("merge", "own")
    assert "2 processes." in merged.stdout and "program main (memcpy)" in merged.stdout
    assert "its map" in merged.stdout.splitlines()[0], merged  # or that it cannot be told yet
    library.unlink()
    assert "asterope-prove merge own" in named("list").stdout
    assert named("remove", "own").returncode == 0 and not kept.exists()
    assert named("list").stdout == ""


def test_a_map_that_was_not_judged_is_not_kept(named, things: Path, tmp_path: Path) -> None:
    """The program fails under the library that has it."""
    script = f'case "$ASTEROPE_TRIAL" in *=memcpy*) exit 7;; esac; exec {things / "program"} 400000'
    done = named("--name", "own", "--time", "3s", "--", "sh", "-c", script)
    assert done.returncode == 1 and "exit code 7" in done.stderr, done
    kept = tmp_path / "build" / "programs" / "own"
    assert not (kept / "places.json").exists()
    assert named("list").stdout.startswith("own: no map: LD_PRELOAD=")
    assert b"1 place apart" not in (kept / "libasterope_preload.so").read_bytes()


def test_finalists_are_ways_of_the_profile_s_contests(tmp_path: Path) -> None:
    raw = good_profile()
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(raw))
    ranks = [
        len(one.get("evidence", {}).get("runners_up", ()))
        for one in raw["choices"]
        if (one["operation"], one["kind"], one.get("intent")) == ("memcpy", "pipelines", None)
    ]
    ways = ways_of_finalists(profile)
    assert [way.name for way in ways] == list(RANKS[: max(ranks)])
    for way in ways:
        assert "asterope_memcpy" in subprocess.check_output(["nm", "-D", way.library], text=True)
    profile.write_text(json.dumps(plain_profile(platform.machine())))
    with pytest.raises(BadInput, match="names no runners-up"):
        ways_of_finalists(profile)


BAD_NAMES = {
    "no name": (["--name", "../up", "--", "true"], "is no name of a program"),
    "nothing kept": (["remove", "other"], "other: nothing is kept under that name"),
    "no figures": (["merge", "other"], "nothing is kept under that name"),
    "nothing named": (["merge"], "NAME"),
    "exploring without a name": (["--explore", "64", "--", "true"], "give it a --name"),
    "finalists in operation": (
        ["--explore", "9", "--finalists", "--name", "a", "--", "true"],
        "leave them out with --explore",
    ),
    "too little of it": (["--explore", "1", "--name", "a", "--", "true"], "from 2 to 65536"),
}


@pytest.mark.parametrize("case", BAD_NAMES)
def test_bad_names_are_one_line(named, case: str) -> None:
    arguments, said = BAD_NAMES[case]
    done = named(*arguments)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


BAD = {
    "a static program": (["--", "{things}/static", "1"], "is linked statically"),
    "no such routine": (["--routine", "none.so", "--", "true"], "none.so: no such library"),
    "a routine that is none": (["--routine", "{things}/nothing.so", "--", "true"], "has neither"),
    "a name twice": (
        ["--copy", "a={things}/like.so", "--copy", "a={things}/like.so", "--", "true"],
        "a is named twice",
    ),
    "no such symbol": (["--copy", "a={things}/like.so:no", "--", "true"], "has no function no"),
    "a map of whole runs": (
        ["--write", "p.json", "--runs", "--", "true"],
        "--write is the trial's",
    ),
    "a file for a folder": (
        ["--write", "{things}/like.so/places", "--", "true"],
        "like.so is no folder: choose another place",
    ),
    "time and rounds": (["--time", "3s", "--rounds", "6", "--", "true"], "--time is the trial's"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(prove, things: Path, case: str) -> None:
    arguments, said = BAD[case]
    filled = [word.format(things=things) for word in arguments]
    assert said in only_error(prove(*filled, routine="" if "--routine" in filled else "like"), 2)


def test_options_of_whole_runs_ask_for_them() -> None:
    assert not parse(["--", "true"]).runs
    for option in (["--runs"], ["--metric", "cpu"], ["--rounds", "6"], ["--client", "true"]):
        assert parse([*option, "--", "true"]).runs


def test_the_routines_entry_points_are_ways(things: Path) -> None:
    ways = ways_of_routine(things / "like.so")
    assert [(way.name, way.copy, way.set) for way in ways] == [
        ("routine", "asterope_memcpy", "-"),
        ("hot", "asterope_memcpy_hot", "-"),
    ]
    with pytest.raises(BadInput, match="more than 16 ways"):
        check_ways([*ways, *(parse_way(f"w{n}={things}/like.so") for n in range(13))])
