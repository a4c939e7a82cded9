"""scripts/tune by itself: its refusals before it installs or builds, the profile that it asks
about, its reasons to search again, its output while it builds, and the owner of the checkout.

Its set-up and asterope-tune are stand-ins here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope.command_line import run
from asterope.option_words import OPTIONS, SEARCH, WORDS, options_of
from asterope.tune_script.request import FORMS, read
from asterope.tune_script.requirements import EXTRAS, requirements
from command_errors import (
    on_terminal,
    only_error_of,
    only_line_of,
    press_ctrl_c,
    run_command,
)
from copy_programs import need, output_of
from namespaces import run_with
from tune_checkout import PROVISIONAL, Checkout, only_line

MISSPELT = {
    "long option": (["--rigr", "quick"], "there is no option --rigr (did you mean --rigor?)"),
    "option of a command": (["check", "--mesure"], "--mesure (did you mean --measure?)"),
    "like no option": (["--bogus"], "there is no option --bogus:"),
    "command": (["chek"], "there is no command chek (did you mean check?)"),
    "command behind options": (["--quiet", "replya", "x"], "replya (did you mean replay?)"),
    "value": (["--rigor", "quik"], "--rigor: there is no quik (did you mean quick?)"),
    "like no value": (["--rigor", "1K"], "--rigor: there is no 1K: choose of quick standard"),
    "no value": (["--sizes"], "--sizes needs a value"),
    "value of a flag": (["--quiet=no"], "--quiet takes no value"),
    "no file": (["-o", ""], "-o needs the name of a file"),
    "no name": (["--name"], "--name needs a value"),
    "nothing to share": (["--share=x", "--no-generate"], "--share does nothing beside --no-gen"),
    "no name to share": (["--share", ""], "--share needs the name of a file"),
    "nothing to render": (["--places=pipe", "--no-generate"], "--places does nothing beside --no-"),
    "no search": (["check", "--retune"], "--retune does nothing beside check: leave out one"),
    "no search of its own": (["--system", "--name=x"], "--name does nothing beside --system"),
    "search before a command": (["--rigor=quick", "check"], "check: the options before it are"),
    "name of another folder": (["--name", "../x"], "--name '../x': choose letters, digits"),
    "no recording": (["--recording", "none.json"], "--recording none.json: there is no such file"),
    "no such map": (["--places=none.json"], "--places none.json: there is no such file"),
    "no map": (["--places", "other.json"], "other.json: is no map that asterope-prove"),
    "no place to share": (["--share", "/dev/null/x"], "/dev/null is no folder"),
    "no such profile": (["check", "none.json"], "check none.json: there is no such file"),
    "none of the name": (["check", "--name", "no"], "programs/no/profile.json: tune it first"),
    "no time": (["--time-budget", "3q"], "--time-budget 3q: write it as in --time-budget 10m"),
    "no size": (["--sizes", "12x"], "--sizes 12x: write it as in --sizes 128,8K,32M"),
    "no seed": (["--seed=x"], "--seed x: write it as in"),
    "nothing to resume": (["--resume"], "there is no log "),
    "a pipe as profile": (["-o", "pipe"], "pipe: is no regular file"),
}


@pytest.mark.parametrize(("given", "expected"), MISSPELT.values(), ids=MISSPELT)
def test_misspelt_words_get_one_line(given, expected, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("other.json").write_text("{}")
    assert run("scripts/tune", lambda: read(tmp_path / "checkout", given)) == 2
    assert expected in only_line_of("scripts/tune", capsys)


@pytest.mark.parametrize("given", ["--rigr", "--resume"])  # what is looked for first, and last
def test_mistakes_are_refused_before_anything_is_installed_or_built(
    bare: Checkout, given: str
) -> None:
    only_line(bare.run(given))
    assert sorted(path.name for path in bare.root.iterdir()) == ["scripts"]


def test_a_dry_run_names_missing_packages_and_all_parts_and_changes_nothing(
    bare: Checkout, repository: Path
) -> None:
    shutil.copy(repository / "pyproject.toml", bare.root)
    bare.set_up("missing_packages() { echo cmake; }; wanted_packages() { echo libcli11-dev; }")
    before = sorted(bare.root.rglob("*"))
    done = bare.run("--dry-run", "--rigor", "quick")
    assert (done.returncode, done.stderr) == (0, "")
    debian, python, build, search, comparison, result = done.stdout.splitlines()
    assert debian == "installs with apt-get, as root or through sudo: cmake libcli11-dev"
    assert python.startswith(f"installs into {bare.root}/.venv: jinja2")
    assert build.startswith("builds asterope-tune (") and search == "searches (1.5 min)"
    assert comparison == "compiles the routine" and f"leaves {bare.profile}" in result
    assert bare.run("check", "--dry-run").stdout.splitlines()[-1] == "runs asterope-tune check"
    assert "there is no option" in only_line(bare.run("--dry-run", "--rigr"))
    assert sorted(bare.root.rglob("*")) == before


def test_modules_in_the_current_folder_take_no_part(bare: Checkout) -> None:
    for name in ("json", "re", "subprocess"):
        (bare.home / f"{name}.py").write_text("raise SystemExit(7)\n")
    assert "did you mean --rigor?" in only_line(bare.run("--rigr"))


def test_without_a_python_one_is_installed_first(checkout: Checkout) -> None:
    checkout.set_up(
        "find_python() { return 1; }\n"
        'set_up() { mkdir -p "$build" "$venv/bin"; : >"$log"; '
        f'ln -sf {shlex.quote(sys.executable)} "$venv/bin/python"; }}'
    )
    for question in ("--help", "--dry-run"):
        done = checkout.run(question)
        assert "needs Python 3.9 or newer to say that" in only_error_of("scripts/tune", done, 1)
    assert not (checkout.root / ".venv").exists()
    done = checkout.run("--rigor", "quick")
    assert (done.returncode, done.searches) == (0, 1), done


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs tomllib")
@pytest.mark.parametrize("purpose", EXTRAS)
def test_the_requirements_are_those_of_pyproject(repository: Path, purpose: str) -> None:
    import tomllib

    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    extras = (project["optional-dependencies"][name] for name in EXTRAS[purpose])
    assert requirements(repository, purpose) == sum(extras, project["dependencies"])


def test_the_scripts_are_as_shellcheck_wants_them(repository: Path) -> None:
    need("shellcheck")
    names = [f"scripts/{name}" for name in ("tune", "test", "setup.sh")]
    output_of("shellcheck", "--external-sources", *names, cwd=repository)


TAKEN = [
    ["--rigor", "quick", "--sizes", "512,8K", "--quiet"],
    ["--rigor=quick", "--workload=hot=1,cold=2", "-op.json"],
    ["--log", "check", "--no-generate"],  # a name, and no command
    ["--cpu", "-1"],  # for the tool to refuse
    ["--without", "avx512", "sensing", "--quiet"],
]


@pytest.mark.parametrize("given", TAKEN, ids=" ".join)
def test_options_of_asterope_tune_are_handed_on(checkout: Checkout, given: list[str]) -> None:
    done = checkout.run(*given)
    assert (done.returncode, done.searches) == (0, 1), done


def test_only_the_files_that_were_asked_for_are_left_beside_the_profile(checkout: Checkout) -> None:
    own = checkout.home / "p.json"
    for given in (["--log", checkout.root / "mine.trials"], ["--retune"], ["-o", own]):
        assert checkout.run(*given).returncode == 0
    for profile in (checkout.profile, own):
        left = {path.name for path in profile.parent.iterdir()}
        assert left == {profile.name, f".{profile.name}.tuned-with"}
        assert json.loads(profile.read_text()) == {}
    assert (checkout.root / "build" / "setup.log").exists()


def test_a_run_is_resumed_where_there_is_a_log(checkout: Checkout) -> None:
    checkout.profile.with_name("profile.json.trials").write_text("{}\n")
    done = checkout.run("--resume")
    assert done.returncode == 0 and f"-o {checkout.profile} --resume" in done.asked


def test_a_shared_search_leaves_no_log_that_stops_the_next_one(checkout: Checkout) -> None:
    """One that was cut short has left a log, which goes only when its owner removes it."""
    own, trials = checkout.home / "own.trials", Path(f"{checkout.profile}.trials")
    for given in ([], [], ["--log", own]):
        done = checkout.run("--share", "x", *given)
        assert (done.returncode, done.searches) == (0, 1), done
        with tarfile.open(checkout.home / "x.tar.gz") as packed:
            log = own.name if given else trials.name
            assert packed.getnames() == ["profile.json", log, "bench.json"]
    assert own.exists() and not trials.exists()
    tool = checkout.root / "build" / "asterope-tune"
    whole = tool.read_text()
    tool.write_text(whole.replace("'{}\\n' >\"$profile\"", '\'{"complete":false}\' >"$profile"'))
    assert checkout.run("--share", "x", "--retune").returncode == 0 and trials.exists()
    tool.write_text(whole)
    trials.unlink()
    trials.write_text("{}\n")
    assert checkout.run("--share", "x").returncode == 2 and trials.exists()
    assert checkout.run("--share", "x", "--resume").returncode == 0 and not trials.exists()


def test_the_options_in_its_table_are_those_that_asterope_tune_has(build_dir: Path) -> None:
    told = json.loads(run_command(build_dir / "asterope-tune", "--help-json").stdout)
    of_commands = {SEARCH: told, **{one["name"]: one for one in told["commands"]}}
    assert {command: options_of(command) for command in OPTIONS} == {
        command: {
            name: bool(option["argument"]) for option in one["options"] for name in option["names"]
        }
        for command, one in of_commands.items()
    }
    assert FORMS.keys() <= options_of(SEARCH).keys()


def test_the_words_of_its_options_are_all_that_asterope_tune_takes(build_dir: Path) -> None:
    for option in ("--rigor", "--workload", "--space"):
        done = run_command(build_dir / "asterope-tune", option, "x")
        told = set(re.findall(r"\w+", done.stderr.partition("choose ")[2]))
        assert set(WORDS[option].split()) == told - {"or"}, option


def test_without_a_name_the_profile_is_the_one_here(checkout: Checkout) -> None:
    (checkout.home / "x.json").touch()
    here = str(checkout.profile)
    assert checkout.run("check").asked == ["check"]  # none is there: the tool has its own places
    checkout.run()
    for given, added in (
        (["check"], [here]),
        (["diagnose", "--cpu", "1"], [here]),
        (["check", "x.json"], []),
    ):
        done = checkout.run(*given)
        assert (done.returncode, done.asked) == (0, [" ".join([*given, *added])])


def test_the_first_run_builds_all_and_names_all_and_later_ones_compare(checkout: Checkout) -> None:
    done = checkout.run()
    first, *others = (checkout.root / "targets").read_text().splitlines()
    assert first == "asterope-tune"  # the search begins as soon as this is there
    assert {"asterope-bench", "asterope_record", "asterope_manual"} <= set(" ".join(others).split())
    preload = f"{checkout.root}/build/libasterope_preload.so"
    assert done.stderr.splitlines()[-1] == f"to try it: LD_PRELOAD={preload} YOUR-PROGRAM"
    assert "compared:" not in done.stdout  # the search has ended with a comparison
    assert checkout.run().stdout.splitlines()[-1].endswith("--suite workloads,mix --brief")
    assert "compared:" not in checkout.run("--retune").stdout
    assert (
        checkout.run("--retune", "--verbose")
        .stdout.splitlines()[-1]
        .endswith("--suite workloads,mix")
    )
    header = checkout.root / "generated" / "asterope_memcpy.h"
    header.write_text("#define ASTEROPE_HAS_MEMSET 1\n")
    copies, sets = checkout.run().stdout.splitlines()[-2:]
    assert sets == f"{copies} --operation memset"
    assert "compared:" not in checkout.run("--quiet").stdout
    assert checkout.run("--cpu", "0", "--retune", "--verbose").stdout.count(" --cpu 0") == 2


@pytest.mark.parametrize(
    ("given", "search"),
    [
        ([], "searches (5 to 10 min)"),
        (["--rigor", "quick"], "searches (1.5 min)"),
        (["--rigor=exhaustive", "--no-generate"], "searches (hours)"),
        (["--time-budget", "10m"], "searches (as long as it may)"),
    ],
)
def test_the_first_line_names_the_steps_and_the_time_that_they_take(
    checkout: Checkout, given: list[str], search: str
) -> None:
    (checkout.root / "build" / "asterope-tune").rename(checkout.root / "kept")
    checkout.set_up('configure() { cp "$root/kept" "$build/asterope-tune"; }')
    first = checkout.run(*given).stderr.splitlines()[0]
    building, *others = first.removeprefix("scripts/tune: ").split(", ")
    assert re.fullmatch(r"builds asterope-tune \([1-9][0-9]* min\)", building)
    assert others[0] == search
    assert "compare" not in first


@pytest.mark.parametrize("given", [[], ["--no-generate"]])
def test_the_first_line_of_a_later_run_names_what_it_compares(
    checkout: Checkout, given: list[str]
) -> None:
    checkout.run(*given)
    again = checkout.run(*given).stderr.splitlines()[0]
    assert "builds" not in again
    assert f"where {checkout.profile} still fits it does not search" in again
    assert ("compares the routine with libc" in again) == ("--no-generate" not in given)
    verbose = checkout.run("--retune", "--verbose", *given).stderr.splitlines()[0]
    assert ("compares it with libc" in verbose) == ("--no-generate" not in given)
    assert "still fits" not in checkout.run("--retune", *given).stderr.splitlines()[0]
    assert "searches" not in checkout.run("--quiet", *given).stderr


def test_a_profile_that_fits_is_kept_and_a_provisional_one_warned_of(checkout: Checkout) -> None:
    assert checkout.run().searches == 1
    for verdict, last in (("0 fits", None), (f"0 fits {PROVISIONAL}", PROVISIONAL)):
        checkout.verdict.write_text(f"{verdict}\n")
        for given in ([], ["--no-generate"]):
            done = checkout.run(*given)
            assert (done.returncode, done.searches) == (0, 0)
            assert "still fits this machine: not searching again" in done.stderr
            said = [line for line in done.stderr.splitlines() if "provisional" in line]
            assert said == ([f"{last}, with scripts/tune --retune"] if last else [])
            assert not last or done.stderr.splitlines()[-1] == said[0]
    log = checkout.root / "mine.trials"
    for given in (["--retune"], ["--fresh"], ["--fresh"], ["--log", log]):
        assert checkout.run(*given).searches == 1
    assert checkout.run("--log", log).searches == checkout.run().searches == 0
    checkout.verdict.write_text("3 stale\n")
    done = checkout.run()
    assert "tuning again: p.json stale" in done.stderr and done.searches == 1
    checkout.verdict.write_text("2 damaged\n")
    assert "tuning again: p.json: damaged\n" in checkout.run().stderr


def test_the_same_options_in_other_words_need_no_other_search(checkout: Checkout) -> None:
    references = ["--reference", "a=./a.so", "--reference", "b=./b.so"]
    given = ["--rigor", "quick", "--without", "avx512", "sensing", "--sizes=1K"]
    assert checkout.run(*given, *references).searches == 1
    again = ["--sizes", "1K", "--without=avx512,sensing", *references, "--rigor=quick"]
    assert checkout.run(*again).searches == 0
    assert checkout.run(*again, "--reference=c=./c.so").searches == 1


def test_a_profile_that_cannot_be_checked_gets_no_remedy_for_noise(checkout: Checkout) -> None:
    checkout.verdict.write_text(f"2 unusable {PROVISIONAL}\n")
    done = checkout.run("--no-generate", "-o", "/dev/null")
    assert done.returncode == 0 and "provisional" not in done.stderr


@pytest.mark.parametrize("command", [[], ["check"]])
def test_help_is_that_of_the_command(checkout: Checkout, command: list[str]) -> None:
    done = checkout.run(*command, "--help")
    assert (done.returncode, done.asked) == (0, [" ".join([*command, "--help"])])
    assert f"The options of {' '.join(['asterope-tune', *command])}:\n" in done.stdout


RECORDING = ' "program": {"command": ["./x"], "executable": "/bin/x", "name": "ffmpeg"},\n'


def test_a_programs_profile_is_kept_apart(checkout: Checkout, tmp_path: Path) -> None:
    """Another recording of the same name is searched for again."""
    assert checkout.run().returncode == 0
    checkout.profile.write_text("the general one")
    recording = tmp_path / "recording.json"
    own = checkout.root / "generated/programs/ffmpeg/profile.json"
    for content, searches in ((RECORDING, 1), (RECORDING, 0), (f"{RECORDING} ", 1)):
        recording.write_text(content)
        done = checkout.run("--recording", recording)
        assert (done.returncode, done.searches) == (0, searches), done
    assert own.read_text() == "{}\n" and checkout.profile.read_text() == "the general one"
    *_, profile, programs, library, preload = done.stderr.splitlines()
    folder = f"{checkout.root}/build/programs/ffmpeg"
    assert profile == f"the profile of ffmpeg: {own}"
    assert programs == "what is kept of programs: ffmpeg/ "
    assert library.endswith(f"{folder}/libasterope_memcpy.so")
    assert f"LD_PRELOAD={folder}/libasterope_preload.so" in preload
    assert checkout.run("--name", "x-2", "--recording", recording).returncode == 0
    assert own.parents[1].joinpath("x-2/profile.json").exists()
    assert checkout.run("check", "--name=ffmpeg").asked == [f"check {own}"]
    recording.write_text("{}")  # it names no program, for which nothing is kept here
    assert checkout.run("--system", "--recording", recording).searches == 0
    assert checkout.run("check", "--name=other").returncode == 2
    assert sorted(path.name for path in own.parents[1].iterdir()) == ["ffmpeg", "x-2"]


def test_a_map_of_places_goes_to_the_preload_library(checkout: Checkout, tmp_path: Path) -> None:
    places, library = tmp_path / "places.json", f"{checkout.root}/build/libasterope_preload.so"
    preload = f"asterope-generate {checkout.profile} --preload {library}"
    places.write_text('{"format": "asterope-places"}')
    assert f"{preload} --quiet" in checkout.run().asked
    for given in (["--places", places], [f"--places={places}"]):
        done = checkout.run(*given)
        assert (done.returncode, done.searches) == (0, 0)  # no reason to search again
        assert f"{preload} --places={places} --quiet" in done.asked


@pytest.mark.parametrize("there_before", [True, False])
def test_an_older_profile_is_not_taken_for_one_that_was_not_written(
    checkout: Checkout, there_before: bool
) -> None:
    assert not there_before or checkout.run().searches == 1
    checkout.environment["ASTEROPE_WRITES_NOTHING"] = "1"
    done = checkout.run("--retune")
    assert done.returncode == 1
    assert f"has not written {checkout.profile}: run scripts/tune again" in done.stderr
    assert checkout.profile.exists() == there_before
    del checkout.environment["ASTEROPE_WRITES_NOTHING"]
    assert checkout.run().searches == 1  # nothing vouches for the profile that was there


@pytest.mark.parametrize(
    ("output", "seconds", "line"),
    [
        ("", 7, "7 s"),
        ("[1/158] a\n[2/158] b\n", 5, "[2/158]"),
        ("[39/158] a\n[40/158] b\n    [99/100] c", 20, "[40/158], about 59 s left"),
        ("[  9%] a\n[ 50%] Built\n", 30, "[ 50%], about 30 s left"),
        ("[  9%] a\n", 1, "[  9%]"),
    ],
)
def test_the_progress_of_a_step_is_read_from_its_output(
    bare: Checkout, output: str, seconds: int, line: str
) -> None:
    script = f". {bare.scripts}/setup.sh; progress_of {seconds}"
    done = run_command("bash", "-euc", script, input=output)
    assert (done.returncode, done.stdout) == (0, line), done


def watched(checkout: Checkout, act: Callable[[int], object]) -> tuple[int, str]:
    """Runs scripts/tune at a terminal, whose build goes on until a file is there. `act` gets the
    terminal once it shows the build's progress."""
    checkout.set_up(
        "build_targets() { echo '[30/40] Compiling'; "
        'until [[ -e "$root/go" ]]; do sleep 0.05; done; }'
    )
    return on_terminal([checkout.scripts / "tune"], "[30/40]", act, env=checkout.environment)


def test_where_somebody_watches_the_line_of_a_step_moves(checkout: Checkout) -> None:
    code, shown = watched(checkout, lambda _: (checkout.root / "go").touch())
    assert code == 0, shown
    assert "\r\033[Kbuilding asterope-tune ... [30/40]" in shown
    assert re.search(r"\r\033\[Kbuilding asterope-tune \.\.\. \d+ s\r\n", shown)
    assert "[30/40] Compiling\n" in (checkout.root / "build" / "setup.log").read_text()


def test_ctrl_c_ends_a_step_that_is_watched_with_130(checkout: Checkout) -> None:
    code, shown = watched(checkout, press_ctrl_c)
    assert code == 130, shown
    assert not checkout.calls.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_a_checkout_of_somebody_else_gets_one_line(repository: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's folders are private
        os.chmod(folder, 0o755)
        readable = Checkout(repository, Path(folder))
        done = readable.run(user="nobody", group=65534, extra_groups=[], cwd="/")
        assert f"{readable.root} cannot be written, it belongs to root" in only_line(done)
        assert sorted(path.name for path in readable.root.iterdir()) == ["scripts"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to leave files in another's checkout")
def test_files_that_root_left_in_ones_own_checkout_can_be_given_back(repository: Path) -> None:
    """Those of `sudo cmake --install` do no harm."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        own = Checkout(repository, Path(folder))
        build = own.root / "build"
        (build / "systemd").mkdir(parents=True)
        for path in (own.root, *own.root.rglob("*"), own.calls.parent):
            os.chown(path, 65534, 65534)
        for name in ("install_manifest.txt", "systemd/asterope-tune.service"):
            (build / name).touch()
        nobody = {"user": "nobody", "group": 65534, "extra_groups": [], "cwd": "/"}
        command = (own.scripts / "setup.sh", "require_writable_checkout")
        script = '. "$1"; "$2"'
        whole = ["bash", "-euo", "pipefail", "-c", script, "tune", *map(str, command)]
        assert run_command(*whole, **nobody).returncode == 0
        (build / "CMakeCache.txt").touch()
        done = run_command(*whole, **nobody)
        assert done.returncode == 2 and "CMakeCache.txt cannot be written" in done.stderr
        back = f"give it back: cd '{own.root}' && sudo chown -R nobody build .venv generated\n"
        assert done.stderr.endswith(back)


def test_a_compiler_that_is_nowhere_is_named(bare: Checkout) -> None:
    script = f". {bare.scripts}/setup.sh; install_packages() {{ :; }}; set_up tune"
    environment = {**bare.environment, "CXX": "none++ -O3", "CC": ""}
    done = run_command("bash", "-euc", script, "tune", env=environment)
    assert done.returncode == 2
    assert done.stderr == "scripts/tune: CXX names none++: there is no such compiler\n"


def test_a_repository_that_git_does_not_trust_gets_one_line(checkout: Checkout) -> None:
    checkout.set_up(
        "configure() { printf 'fatal: detected dubious ownership in repository at %s\\n' a b; "
        "seq 100000; false; }"
    )
    done = checkout.run()
    assert done.returncode == 1
    _plan, titles, message = done.stderr.splitlines()
    assert titles == "configuring ... failed"
    assert message.startswith("scripts/tune: git trusts no repository of another user")


def test_ones_own_read_only_checkout_needs_another_place(bare: Checkout) -> None:
    root = shlex.quote(str(bare.root))
    read_only = f"mount --bind {root} {root}; mount -o remount,bind,ro {root}"
    message = only_line(run_with([], [bare.root / "scripts/tune"], read_only))
    assert "cannot be written, though it is yours" in message and "as that user" not in message
