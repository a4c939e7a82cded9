"""asterope-prove as a trial inside one run: real programs, and a routine whose cost is known."""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from asterope.faults import BadInput, Failure
from asterope.prove import programs
from asterope.prove.options import parse
from asterope.prove.trial import command
from asterope.prove.trial.blocks import Place
from asterope.prove.trial.command import prove_by_trial
from asterope.prove.trial.run import KNOWN, Trial
from asterope.prove.trial.ways import RANKS, ways_of_finalists
from command_errors import finished, python_settings, read_json
from copy_programs import compiled, need_way, output_of, shared_library
from made_up_trials import observed_of, steady
from profile_samples import good_profile, of, plain_profile
from prove_command import PROVE, ROUTINE, interrupted_output, only_error


@pytest.fixture
def settings(build_dir, libraries: Path, tmp_path: Path) -> Callable[..., dict]:
    def of(*arguments: object, routine: str = "slow", **environment: object) -> dict:
        named = [f"--routine={libraries / routine}.so"] if routine else []
        environment = {"ASTEROPE_BUILD_DIR": build_dir, **environment}
        return python_settings(tmp_path, *PROVE, *named, *arguments, **environment)

    return of


@pytest.fixture
def prove(settings) -> Callable[..., subprocess.CompletedProcess]:
    return lambda *arguments, **more: finished(settings(*arguments, **more))


def test_a_slower_routine_is_advised_against(prove, program: Path, tmp_path: Path) -> None:
    """The place that wants another way is written."""
    file, mapping = tmp_path / "trial.json", tmp_path / "places.json"
    asked = ("--time", "20s", "--json", file, "--write", mapping)
    done = prove(*asked, "--", program, 4_000_000)
    assert (done.returncode, done.stderr) == (3, ""), done
    lines = done.stdout.splitlines()
    assert lines[0].startswith("With the routine this program runs ")
    assert "% slower (" in lines[0] and lines[0].endswith("; it is slower than libc at 1 place.")
    assert "program main (memcpy)" in done.stdout and "8KiB.." in done.stdout
    assert lines[2].startswith("The kernel took ") and "--tunables" not in done.stdout
    found = read_json(file, "trial")
    assert found["said"][:3] == lines[:3]
    (place,) = found["places"]
    assert (place["module"], place["caller"]) == (str(program), "main")
    assert found["gain"]["high"] < 0 and place["ratios"]["routine"]["high"] < 1

    (mapped,) = json.loads(mapping.read_text())["places"]
    build = output_of("readelf", "-nW", program)
    assert f"Build ID: {mapped.pop('build_id')}\n" in build
    assert mapped.pop("way") == place["best"] == "libc"
    assert mapped == {name: place[name] for name in mapped}
    assert lines[-2] == f"Wrote {mapping}: 1 place with another way than the routine."
    assert lines[-1].startswith(f"To give each place its way: scripts/tune --places {mapping}, ")


def test_a_link_names_the_program_and_not_its_target(
    prove, libraries, program, tmp_path: Path
) -> None:
    """Neither in a place nor where it goes on after the command."""
    link, file = tmp_path / "server", tmp_path / "trial.json"
    link.symlink_to(program)
    done = prove("--time", "1s", "--json", file, "--", link, 200_000)
    assert "server main (memcpy)" in done.stdout and "program main" not in done.stdout, done
    assert {place["module"] for place in read_json(file, "trial")["places"]} >= {str(program)}
    stays = "int main(void) { return fork() ? 0 : pause(); }"
    link.unlink()
    link.symlink_to(compiled(tmp_path / "target", stays, "-w"))
    for mode in ("--copies", libraries / "like.so"), ("--routine", libraries / "like.so"):
        done = prove(*mode, "--", link, routine="")
        assert "still running when the command ended: server: " in done.stderr, done


@pytest.mark.parametrize("option", ["--json", "--write"])
def test_what_cannot_be_written_is_shown_all_the_same(prove, program: Path, option: str) -> None:
    done = prove("--time", "1s", option, "/dev/full", "--", program, 200_000)
    assert only_error(done, 1).endswith(" /dev/full: cannot write: No space left on device")
    assert "program main (memcpy)" in done.stdout and "Wrote" not in done.stdout


def test_a_short_program_is_run_again(prove, program: Path, tmp_path: Path) -> None:
    file = tmp_path / "trial.json"
    shell = ("sh", "-c", f"{program} 20000; exit")  # whose time is not the program's
    prove("--time", "1s", "--json", file, "--", *shell)
    found = json.loads(file.read_text())
    assert 1 < found["runs"] < found["processes"] and found["wall_seconds"] <= found["seconds"]
    assert found["copied_bytes"] >= 8192 * 20_000 * (found["runs"] - 1)
    assert found["minor_faults"] >= 50 * found["runs"]  # its start alone


def test_a_program_that_does_not_end_is_ended_when_the_time_is_over(prove, program: Path) -> None:
    began = time.monotonic()
    done = prove("--time", "2s", "--", program, 10**12)
    assert time.monotonic() - began < 60
    assert done.returncode == 3 and "% slower (" in done.stdout
    *_, note, advice = done.stdout.splitlines()
    assert note.startswith("Note: 1 place wants another way than the routine: --write PLACES")
    assert advice == "Leave it: the routine makes this program slower."


def test_other_libraries_are_ways_too(prove, libraries, program, tmp_path: Path) -> None:
    file = tmp_path / "trial.json"
    other = f"other={libraries / 'slow.so'}:asterope_memcpy_hot"
    options = ("--time", "5s", "--json", file, "--copy", other)
    prove(*options, "--", program, 300_000, routine="like")
    found = json.loads(file.read_text())
    assert [way["name"] for way in found["ways"]] == ["routine", "hot", "other"]
    place = found["places"][0]
    assert place["left_early"] == ["other"] and place["ratios"]["other"]["high"] < 1


def test_a_program_that_copies_nothing_gains_nothing(prove) -> None:
    done = prove("--", "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "Leave it: nothing to gain here."


def test_a_program_with_a_memcpy_of_its_own_is_not_called_hopeless(prove, tmp_path: Path) -> None:
    text = "void *memcpy(void *to) { return to; }\nint main(void) { return 0; }\n"
    done = prove("--", compiled(tmp_path / "own", text, "-fno-builtin", "-w"))
    assert "own has a memcpy of its own, whose calls are not seen" in only_error(done, 1)
    assert done.stdout == ""


ENDS_CHECKED = """
    Dl_info caller;
    if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "checked"))
        _exit(9);"""
COPIES = """
#include <string.h>
static char from[8192], to[8192];
int main(void)
{
    for (int i = 0; i < 100000; ++i) memcpy(to, from, sizeof to);
    return 0;
}
"""


# A server's workers: forked when its rights are given up.
WORKERS = """
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char from[65536], to[65536];
int main(void)
{
    if (setgid(65534) || setuid(65534)) return 1;
    for (int i = 0; i < 2; ++i) {
        if (fork()) continue;
        for (int j = 0; j < 50000; ++j) memcpy(to, from, sizeof to);
        return 0;
    }
    while (wait(NULL) > 0) {}
    return 0;
}
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up its rights")
def test_workers_of_another_user_are_tried(prove, tmp_path: Path) -> None:
    program = compiled(tmp_path / "workers", WORKERS, "-O1", "-fno-builtin")
    file = tmp_path / "trial.json"
    with tempfile.TemporaryDirectory() as folder:  # pytest's folders are private
        os.chmod(folder, 0o711)
        done = prove("--time", "1s", "--json", file, "--", program, TMPDIR=folder)
    found = json.loads(file.read_text())
    assert found["processes"] == 3 * found["runs"] and "unseen" not in found["limits"], done


def test_a_command_that_leaves_an_idle_process_behind_is_judged(prove, program: Path) -> None:
    leaves = f"{program} 2000000; sleep 1000 & exit 0"
    done = prove("--time", "5s", "--", "sh", "-c", leaves)
    assert done.returncode in (3, 4) and "program main (memcpy)" in done.stdout, done


def test_what_short_children_left_is_given_back_while_others_run(prove, tmp_path: Path) -> None:
    """The command waits until it is."""
    loop = (
        "for i in $(seq 60); do /bin/true; done; "
        "while [ $(ls $ASTEROPE_RECORD | wc -l) -gt 20 ]; do sleep 0.1; done; touch given"
    )
    prove("--time", "60s", "--", "sh", "-c", loop + "; exit 1")  # it runs once
    assert (tmp_path / "given").exists()


def no_file_beyond(bytes_: int) -> Callable[[], None]:
    return partial(resource.setrlimit, resource.RLIMIT_FSIZE, (bytes_, bytes_))


def test_where_files_find_no_room_nothing_is_said_of_the_program(settings, program: Path) -> None:
    done = subprocess.run(**settings("--", program, 1000), preexec_fn=no_file_beyond(4096))
    assert only_error(done, 1).endswith(": have TMPDIR name a folder with more")


def test_a_run_that_fails_says_how_and_whether_it_does_so_alone(prove, program: Path) -> None:
    """The findings until then are shown."""
    done = prove("--", program, 2_000_000, 3)
    assert "program main (memcpy)" in done.stdout
    said = only_error(done, 1)
    assert "program ended with exit code 3, as it does without the trial" in said
    under = 'case "$LD_PRELOAD" in *asterope*) exit 4;; esac'
    said = only_error(prove("--", "sh", "-c", under), 1)
    assert said.endswith("sh ended with exit code 4")


def test_an_interrupt_shows_what_is_known(settings, program: Path, tmp_path: Path) -> None:
    def it_copies(_: subprocess.Popen) -> bool:
        if not list((tmp_path / "tmp").glob("*/*/files/*.raw")):
            return False
        time.sleep(2)
        return True

    running = settings("--time", "60s", "--", program, 10**12)
    assert "program main (memcpy)" in interrupted_output(running, it_copies, signal.SIGINT)


@pytest.fixture
def own_build(build_dir: Path, libraries: Path, tmp_path: Path) -> dict[str, str]:
    """The variables of a build of its own, whose routine is slow, and of a profile."""
    built, profile = tmp_path / "build", tmp_path / "config" / "asterope" / "profile.json"
    built.mkdir()
    profile.parent.mkdir(parents=True)
    shutil.copy(build_dir / "libasterope_record.so", built)
    shutil.copy(libraries / "slow.so", built / "libasterope_memcpy.so")
    profile.write_text(json.dumps(plain_profile(platform.machine())))
    return {"ASTEROPE_BUILD_DIR": str(built), "XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def named(settings, own_build: dict[str, str]):
    return lambda *arguments: finished(settings(*arguments, routine="", **own_build))


def exchange_names(kept: dict[str, Any]) -> None:
    first, second = kept["ways"][0], kept["ways"][-1]
    first["name"], second["name"] = second["name"], first["name"]


# Damages of a list of ways, and the message behind its file's name.
DAMAGED_WAYS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "none": (lambda kept: kept["ways"].clear(), "ways: missing: remove its folder"),
    "no name": (lambda kept: kept["ways"][0].update(name=[]), "ways: no longer have"),
    "no command": (lambda kept: kept.pop("command"), "command: missing: remove its folder"),
    "exchanged": (exchange_names, "ways: no longer have the checksum that is the folder's name"),
    "other copies": (lambda kept: kept["ways"][0].update(copy="memmove"), "ways: no longer have"),
    "of before": (lambda kept: kept.pop("format"), "format: not a list of ways"),
}


def test_a_name_keeps_a_map_and_its_library_tried_as_a_whole(named, program, tmp_path) -> None:
    file, kept = tmp_path / "trial.json", tmp_path / "build" / "programs" / "own"
    options = ("--name", "own", "--time", "5s", "--json", file)
    done = named(*options, "--", program, 4_000_000)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("With the routine and its map of places it runs "), done
    assert "than with the routine alone" in lines[0] and "% slower" in lines[1]
    (place,) = json.loads((kept / "places.json").read_text())["places"]
    assert (place["caller"], place["way"]) == ("main", "libc")
    assert json.loads(file.read_text())["map_gain"]["low"] > -0.5
    library = kept / "libasterope_preload.so"
    assert f"LD_PRELOAD={library}" in named("list").stdout
    under = {**os.environ, "LD_PRELOAD": str(library), "ASTEROPE_VERBOSE": "1"}
    said = subprocess.run([program, "1"], env=under, capture_output=True)
    assert said.returncode == 0 and said.stderr.endswith(b", 1 place apart\n")

    assert named("merge", "own").returncode == 2
    for _ in range(2):
        explored = named("--explore", 2, "--name", "own", "--", program, 4_000_000)
        assert explored.stdout == "took 3\n"
    merged = named("merge", "own")
    assert " 2 processes," in merged.stdout and "program main (memcpy)" in merged.stdout
    assert "its map" in merged.stdout.splitlines()[0], merged  # or that it cannot be told yet
    (ways,) = kept.glob("figures/*/ways.json")
    whole = ways.read_text()
    for damage, said in DAMAGED_WAYS.values():
        raw = json.loads(whole)
        damage(raw)
        ways.write_text(json.dumps(raw))
        assert f"{ways}: {said}" in only_error(named("merge", "own"), 2)
    ways.write_text(whole)
    for names in (["own"], ["own", "own"]):
        assert named("merge", *names).stdout == merged.stdout
    old = ways.parent.with_name("0123abcd")  # of libraries of before
    shutil.copytree(ways.parent, old)
    with subprocess.Popen(["sleep", "1000"], stdin=(old / "1-1.raw").open("w+")) as running:
        named("--explore", 2, "--name", "own", "--", "true")
        assert [path.name for path in old.glob("*.raw")] == ["1-1.raw"]
        running.kill()
    named("--explore", 2, "--name", "own", "--", "true")
    assert not old.exists()
    forgotten = named("merge", "own", "--forget").stdout
    assert forgotten.startswith(merged.stdout) and " of 2 processes that have ended.\n" in forgotten
    assert list(ways.parent.glob("*.raw")) == []
    assert "no process has left figures yet" in only_error(named("merge", "own"), 1)
    library.unlink()
    assert "asterope-prove merge own" in named("list").stdout
    assert named("remove", "own").returncode == 0 and not kept.exists()
    assert named("list").stdout == ""


@pytest.mark.parametrize("is_child", [False, True])
@pytest.mark.parametrize("checks", ["thread", "address"])
def test_in_operation_no_copy_escapes_a_sanitizer(
    settings, build_dir: Path, tmp_path: Path, checks: str, is_child: bool
) -> None:
    """The routine would end the program. It is said at once of the command, and of children by the
    files that they leave."""
    need_way(tmp_path, "cc", f"-fsanitize={checks}")
    flags = ("-O1", "-fno-builtin", f"-fsanitize={checks}")
    program = compiled(tmp_path / "checked", COPIES, *flags)
    built = tmp_path / "build"
    built.mkdir()
    shutil.copy(build_dir / "libasterope_record.so", built)

    routine = shared_library(tmp_path / "routine.so", ROUTINE.replace("BEFORE", ENDS_CHECKED))

    def own(*arguments: object) -> subprocess.CompletedProcess:
        return finished(settings(*arguments, routine="", ASTEROPE_BUILD_DIR=built))

    command = ("sh", "-c", f"{program}; exit $?") if is_child else (program,)
    done = own("--routine", routine, "--explore", 2, "--name", "own", "--", *command)
    assert done.returncode == 0, done
    why = "Sanitizer, whose checks are a part of what copies take: prove a build without it"
    if is_child:
        assert why not in done.stderr
        assert why in only_error(own("merge", "own"), 1)
        own("--routine", routine, "--explore", 2, "--name", "other", "--", "sh", "-c", "exit 0")
        assert why in own("merge", "other", "own").stderr
        forgotten = own("merge", "own", "--forget")
        assert why in forgotten.stderr and "Removed: " in forgotten.stdout
        assert list(built.glob("programs/own/figures/*/*.raw")) == []
    else:
        assert done.stderr.count("\n") == 1 and f"{why}: it runs without a trial" in done.stderr


@pytest.mark.parametrize("why", ["no space", "no folder"])
def test_in_operation_it_runs_where_nothing_can_be_kept(settings, tmp_path, why: str) -> None:
    if why == "no folder":
        (tmp_path / "build").mkdir()
        (tmp_path / "build" / "programs").touch()
    command = ("--explore", 2, "--name", "own", "--", "sh", "-c", "exit ${LD_PRELOAD:-$CODE}")
    settings = settings(*command, ASTEROPE_BUILD_DIR=tmp_path / "build", CODE=5)
    done = subprocess.run(**settings, preexec_fn=no_file_beyond(0) if why == "no space" else None)
    assert done.returncode == 5 and done.stdout == ""
    assert done.stderr.endswith(": it runs without a trial\n") and done.stderr.count("\n") == 1


def test_a_map_that_was_not_judged_is_not_kept(
    monkeypatch, named, own_build: dict[str, str], program: Path, tmp_path: Path
) -> None:
    """The program fails under the library that has it. What the trial before saw is made up."""
    measured = Trial.measure

    def measure(trial: Trial, tell: Callable[[str], None]) -> None:
        if any(way.is_whole for way in trial.ways):
            measured(trial, tell)
        place = Place(str(program), 1, "memcpy", 8192)
        trial.observed, trial.stopped_by = observed_of({place: steady(8.0)}, 1), KNOWN

    monkeypatch.setattr(Trial, "measure", measure)
    for name, value in own_build.items():
        monkeypatch.setenv(name, value)
    script = f'case "$ASTEROPE_TRIAL" in *=memcpy*) exit 7;; esac; exec {program} 1000'
    with pytest.raises(Failure, match=r"^sh ended with exit code 7$"):
        prove_by_trial(parse(["--name", "own", "--", "sh", "-c", script]))
    kept = tmp_path / "build" / "programs" / "own"
    assert not (kept / "places.json").exists()
    assert named("list").stdout.startswith("own: no map: LD_PRELOAD=")
    assert b"1 place apart" not in (kept / "libasterope_preload.so").read_bytes()


def test_a_map_that_cannot_be_compiled_leaves_the_findings_and_blames_no_program(
    monkeypatch, capsys, own_build: dict[str, str], program: Path
) -> None:
    def measure(trial: Trial, tell: Callable[[str], None]) -> None:
        place = Place(str(program), 1, "memcpy", 8192)
        trial.observed, trial.stopped_by = observed_of({place: steady(8.0)}, 1), KNOWN

    monkeypatch.setattr(Trial, "measure", measure)
    monkeypatch.setattr(command.Commands, "run", lambda *_: pytest.fail("it ran once more"))
    for name, value in {**own_build, "CC": "false"}.items():
        monkeypatch.setenv(name, value)
    tried = parse(["--name", "own", "--", str(program)])
    with pytest.raises(Failure, match=r"^false did not compile the library"):
        prove_by_trial(tried)
    assert "Leave it: the routine makes this program slower." in capsys.readouterr().out
    assert not list(programs.kept())
    monkeypatch.setattr(command, "write_map", Mock(side_effect=PermissionError(13, "no")))
    with pytest.raises((Failure, PermissionError)):
        prove_by_trial(tried)
    assert "With the routine this program runs " in capsys.readouterr().out


def test_a_name_asks_for_profile_and_compiler_before_the_trial(
    monkeypatch, own_build: dict[str, str], program: Path
) -> None:
    monkeypatch.setattr(Trial, "measure", lambda *_: pytest.fail("it tried for nothing"))
    for name, value in {**own_build, "CC": "/none"}.items():
        monkeypatch.setenv(name, value)
    tried = parse(["--name", "own", "--", str(program)])
    with pytest.raises(Failure, match=r"^the library needs a C compiler: CC: /none: no such"):
        prove_by_trial(tried)
    monkeypatch.setattr(programs, "profile_of", lambda name: Path(f"no-{name}.json"))
    with pytest.raises(BadInput, match=r"^no-own\.json: "):
        prove_by_trial(tried)
    assert not list(programs.kept())


def test_finalists_are_ways_of_the_profile_s_pipelines(tmp_path: Path) -> None:
    raw = good_profile()
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(raw))
    most = max(len(one["evidence"].get("runners_up", ())) for one in of(raw))
    ways = ways_of_finalists(profile)
    assert [way.name for way in ways] == list(RANKS[:most])
    for way in ways:
        assert "asterope_memcpy" in subprocess.check_output(["nm", "-D", way.library], text=True)
    profile.write_text(json.dumps(plain_profile(platform.machine())))
    with pytest.raises(BadInput, match="names no runners-up"):
        ways_of_finalists(profile)


# Words of the command, {} standing for the folder of libraries; the message.
BAD = {
    "a static program": ("-- {}/static 1", "is linked statically"),
    "no such routine": ("--routine none.so -- true", "none.so: no such library"),
    "a routine that is not one": ("--routine {}/fast.so -- true", "has neither"),
    "a name twice": ("--copy a={}/like.so --copy a={}/like.so -- true", "a is named twice"),
    "no such symbol": ("--copy a={}/like.so:no -- true", "has no function no"),
    "a map of whole runs": ("--write p.json --runs -- true", "--write is the trial's"),
    "a file": ("--write {}/like.so/places -- true", "like.so is no folder: choose another place"),
    "time and rounds": ("--time 3s --rounds 6 -- true", "--time is the trial's"),
    "no name": ("--name ../up -- true", "is not a name of a program"),
    "nothing kept": ("remove other", "other: nothing is kept under that name"),
    "no figures": ("merge other", "nothing is kept under that name"),
    "exploring without a name": ("--explore 64 -- true", "give it a --name"),
    "its finalists": ("--explore 9 --finalists --name a -- true", "--finalists is not for"),
    "its time": ("--explore 9 --time 3s --name a -- true", "--time is not for --explore"),
    "its file": ("--explore 9 --json f --name a -- true", "give it to asterope-prove merge"),
    "its map": ("--explore 9 --write p.json --name a -- true", "--write is not for"),
    "its CPU": ("--explore 9 --cpu 0 --name a -- true", "--cpu is not for"),
    "its folder": ("--explore 9 --name a -- true {folder}", "does not fill in {folder}, as"),
    "an empty client": ("--client= -- true", "--client asks for whole runs instead"),
    "one file": ("--json f --write ./f -- true", "f: is the map of --write, and would be lost: ch"),
    "one file of kept ones": ("merge own --json f --write f", "would be lost: choose another --j"),
    "too little of it": ("--explore 1 --name a -- true", "from 2 to 65536"),
}


@pytest.mark.parametrize(("words", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(refused, words: str, said: str) -> None:
    given = words.split()
    has_routine = {"--routine", "--name", "remove", "merge"} & set(given)
    assert said in refused(*([] if has_routine else ["--routine={}/like.so"]), *given)
