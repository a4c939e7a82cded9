"""Which programs gain, as scripts/experiments/survey measures it.

The commands of Asterope are made up, but for the slow test: these write figures of known truth.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_errors import assert_gone, interrupted, only_error_of, run_command, script
from copy_programs import need

COMMAND = (sys.executable, Path(__file__).parents[2] / "scripts/experiments/survey")
SHORT = ("--work", "0.02s", "--time", "1s", "--rounds", "6")
MACHINE = {"cpu": "a CPU", "cpus": 2, "libc": "glibc 2.36"}


def recording(**changes: Any) -> dict[str, Any]:
    """What the table takes of a recording."""
    of = {"share": 0.5, "bytes": 1 << 30, "times": 1.0}
    return {"machine": MACHINE, **of, "function": "memcpy", "size": 1 << 20, **changes}


def row(name: str, **changes: Any) -> dict[str, Any]:
    """A result: the trial says 40 % (39 to 41), whole runs say 41 % (38 to 44)."""
    of = {"name": name, "work": "it copies", "measured": "2026-11-29T08:00:00Z"}
    of["recording"] = recording(**changes.pop("recording", {}))
    of["trial"] = {"gain": {"value": 0.4, "low": 0.39, "high": 0.41}}
    of["runs"] = {"routine": {"median": 1.41, "low": 1.38, "high": 1.44}}
    return {**of, "faults": 0.0, "kernel": 0.1, "versions": {"numpy": "2.4.6"}, **changes}


class Survey:
    """A folder of results, and a build whose commands are scripts."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder, self.build, self.bin = (tmp_path / name for name in ("made", "build", "bin"))
        self.results = self.folder / "results"
        for one in (self.results, self.build, self.bin):
            one.mkdir(parents=True)
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        for name in ("libasterope_memcpy.so", "libasterope_preload.so", "profile.json"):
            (self.build / name).touch()
        for name in ("record", "prove", "generate"):
            self.command(name, "exit 9")

    def command(self, name: str, lines: str) -> None:
        script(self.build / f"asterope-{name}", f"#!/bin/bash\n{lines}\n")

    def writes(
        self, name: str, document: dict[str, Any], last: str = "--json", code: int = 0
    ) -> str:
        """The lines of a script that writes the document behind the option `last`, and its
        arguments into a file."""
        (self.build / f"{name}.json").write_text(json.dumps(document))
        return (
            f'echo "$*" >>{self.build}/{name}.called\n'
            f"while [ $1 != -- ]; do [ $1 = {last} ] && file=$2; shift; done\n"
            f"cp {self.build}/{name}.json $file; exit {code}\n"
        )

    def called(self, name: str) -> str:
        file = self.build / f"{name}.called"
        return file.read_text() if file.exists() else ""

    def arguments(self, *arguments: object) -> list[object]:
        profile = ("--profile", self.build / "profile.json")
        return [*COMMAND, *SHORT, "--build", self.build, *profile, self.folder, *arguments]

    def run(self, *arguments: object) -> subprocess.CompletedProcess:
        return run_command(*self.arguments(*arguments), env=self.environment)

    def has(self, *rows: dict[str, Any]) -> None:
        for one in rows:
            (self.results / f"{one['name']}.json").write_text(json.dumps(one))

    def result(self, name: str) -> dict[str, Any]:
        return json.loads((self.results / f"{name}.json").read_text())

    def node(self, lines: str) -> None:
        """The command that stands for node, whose program is the last argument but one or two."""
        script(self.bin / "node", f"#!/bin/bash\n{lines}\n")


@pytest.fixture
def survey(tmp_path: Path) -> Survey:
    return Survey(tmp_path)


# --- The table ---


def sections(text: str) -> dict[str, list[str]]:
    """The names in each section."""
    found: dict[str, list[str]] = {}
    for part in text.split("## ")[1:]:
        title, _, rest = part.partition("\n")
        lines = [line for line in rest.splitlines() if line.startswith(("|", "- "))]
        names = [re.match(r"[|-] ?([\w-]+)", line)[1] for line in lines]
        found[title] = [name for name in names if name not in ("program", "---")]
    return found


def test_the_table_is_sorted_by_the_kind_of_copies_and_then_by_gain(survey):
    more = {"routine": {"median": 1.8, "low": 1.7, "high": 1.9}}
    survey.has(
        row("numpy-assign"),
        row("python-bytearray", runs=more, trial={"gain": None}),
        row("numpy-copy", faults=256.0, kernel=0.6),
        row("numpy-crop", recording={"size": 4096}),
        row("perl", recording={"share": 0.01}, trial={}, runs={}),
        row(
            "java",
            recording={"times": 0.01, "share": None, "function": None, "size": None},
            trial={},
            runs={},
        ),
        {**row("go"), "refused": "asterope-record: copy: is static"},
        {"name": "r", "work": "a vector", "measured": "2026-11-28", "left_out": "there is no R"},
    )
    done = survey.run("--table")
    assert (done.returncode, done.stderr) == (1, "")  # as one is left out
    assert sections(done.stdout) == {
        "Large blocks into memory that was used before": ["python-bytearray", "numpy-assign"],
        "Into fresh memory": ["numpy-copy"],
        "Blocks and rows below 128 KiB": ["numpy-crop"],
        "Copies take less than 2% of the time": ["perl"],
        "Other code copies": ["java"],
        "No library can be preloaded": ["go"],
        "Left out": ["r"],
    }
    assert "- r (a vector): there is no R\n" in done.stdout
    assert "|1.0 memcpy 1 MiB|50 %|0|10 %|+40 (39..41)|+41 (38..44)|" in done.stdout
    assert "Measured 2026-11-28 to 2026-11-29.\n" in done.stdout
    assert "Machine: a CPU, 2 CPUs, glibc 2.36.\nVersions: numpy 2.4.6.\n" in done.stdout
    assert (survey.folder / "survey.md").read_text() == done.stdout
    assert len(json.loads((survey.folder / "survey.json").read_text())) == 8


def test_a_trial_and_whole_runs_that_do_not_agree_are_marked(survey):
    apart = {"routine": {"median": 1.2, "low": 1.1, "high": 1.38}}
    meeting = {"routine": {"median": 1.3, "low": 1.2, "high": 1.395}}
    survey.has(row("numpy-assign", runs=apart), row("numpy-crop", runs=meeting))
    text = survey.run("--table").stdout
    assert text.count("(!)") == 2
    assert "(!)** The intervals of trial and whole runs do not meet: numpy-assign.\n" in text


def test_an_earlier_survey_stands_beside_the_runs_and_disagreements_are_named(survey, tmp_path):
    def whole(low: float, high: float) -> dict[str, Any]:
        return {"routine": {"median": (low + high) / 2, "low": low, "high": high}}

    names = ("numpy-assign", "numpy-crop", "perl", "ruby")
    then = [(1.35, 1.4), (1.01, 1.02), (0.9, 0.95)]
    earlier = tmp_path / "survey.json"
    earlier.write_text(json.dumps([row(n, runs=whole(*of)) for n, of in zip(names, then)]))
    survey.has(*(row(name, runs=whole(1.38, 1.44)) for name in names))
    text = survey.run("--table", "--beside", earlier).stdout
    assert "|+41 (38..44)|+38 (35..40)|" in text
    assert (
        "Of 3 programs in both surveys the intervals of 1 meet, not those of numpy-crop, perl. "
        "Surely faster in one and slower in the other: perl.\n"
    ) in text
    assert "in both surveys" not in survey.run("--table").stdout
    earlier.write_text("[{}]")
    said = only_error_of("survey", survey.run("--table", "--beside", earlier), 2)
    assert said.endswith(f"{earlier}: is not a survey.json")


def test_without_results_the_table_is_empty(survey):
    done = survey.run("--table")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


# --- One program ---

TRIAL = {
    "told": True,
    "gain": {"value": 0.4, "low": 0.39, "high": 0.41},
    "unjudged": 0,
    "said": [""],
}
RUNS = {
    "copies": [{"name": "libc"}, {"name": "routine", "ratio": {"median": 1.4, "low": 1, "high": 2}}]
}
PLACE = {"calls_function": "memmove", "median_size": 4096, "module": "/lib/x.so", "function": ""}


def recorded(**changes: Any) -> dict[str, Any]:
    copies = {"share": 0.5, "bytes": 1 << 40}
    sets = {**PLACE, "calls_function": "memset", "bytes": 1 << 30}
    places = [sets, {**PLACE, "bytes": 1}, {**PLACE, "bytes": 2, "median_size": 1 << 20}]
    return {"machine": MACHINE, "copies": copies, "places": places, **changes}


def says(checksum: str = "abc") -> str:
    """A driver of 20 ms a turn."""
    return f"sleep $(( ${{@: -1}} * 20 ))e-3; echo result {checksum} {1 << 30}"


@pytest.fixture
def measuring(survey: Survey) -> Survey:
    survey.node(f'[ "$1" = --version ] && {{ echo v20.1; exit; }}; {says()}')
    script(survey.bin / "dpkg-query", "#!/bin/sh\nexit 1\n")
    survey.command("record", survey.writes("record", recorded(), "-o"))
    trial, runs = survey.writes("trial", TRIAL, code=3), survey.writes("runs", RUNS, code=4)
    survey.command("prove", f'case "$*" in *--rounds*)\n{runs};;\n*)\n{trial};;\nesac')
    return survey


def test_a_program_is_recorded_tried_and_run_whole(measuring):
    done = measuring.run("node-set")
    assert (done.returncode, done.stderr) == (0, "")
    found = measuring.result("node-set")
    assert found["versions"] == {"node": "20.1"}
    assert found["trial"]["gain"]["value"] == 0.4
    assert found["runs"] == {"routine": {"median": 1.4, "low": 1, "high": 2}}
    assert found["moved"] == found["count"] << 30
    of = found["recording"]
    assert (of["function"], of["size"], of["caller"]) == ("memmove", 1 << 20, "x.so")  # no set
    assert of["times"] == pytest.approx(1024 / found["count"])
    assert "--time 1s" in measuring.called("trial")
    runs = measuring.called("runs")
    assert "--metric cpu --rounds 6" in runs and "--tunables" not in runs and "places=" not in runs
    assert runs.split()[-1] == str(found["count"])
    assert "node-set" in done.stdout


def test_the_map_of_places_is_run_too(measuring):
    trial, runs = measuring.writes("trial", TRIAL), measuring.writes("runs", RUNS)
    places = f"echo '{{\"places\": [1]}}' >{measuring.folder}/figures/node-set/places.json"
    measuring.command("prove", f'case "$*" in *--rounds*)\n{runs};;\n*)\n{places}\n{trial};;\nesac')
    measuring.command("generate", f'echo "$*" >>{measuring.build}/generate.called')
    assert measuring.run("node-set").returncode == 0
    library = measuring.folder / "figures/node-set/libplaces.so"
    assert f"--preload {library} --places" in measuring.called("generate")
    assert f",places={library} --json" in measuring.called("runs")


def test_glibcs_remedies_are_run_where_new_pages_are_a_cost(measuring):
    # a turn has new memory of 16 MiB, which the kernel fills
    turn = "dd if=/dev/zero of=/dev/null bs=16M count=1 status=none"
    lines = f"for ((i = 0; i < ${{@: -1}}; ++i)); do {turn}; done; echo result a {16 << 20}"
    measuring.node(f'[ "$1" = --version ] && exit; {lines}')
    assert measuring.run("node-set", "--work", "1s").returncode == 0
    assert measuring.result("node-set")["faults"] > 16
    assert "/libasterope_preload.so --tunables" in measuring.called("runs")


@pytest.mark.parametrize("little", [{"share": 0.019}, {"bytes": 1 << 20}])
def test_nothing_is_tried_where_copies_take_too_little(measuring, little):
    little = recorded(copies={**recorded()["copies"], **little})
    measuring.command("record", measuring.writes("record", little, "-o"))
    assert measuring.run("node-set").returncode == 0
    assert not {"trial", "runs"} & measuring.result("node-set").keys()
    assert (measuring.called("trial"), measuring.called("runs")) == ("", "")


def test_a_program_that_the_recorder_refuses_is_not_a_failure(measuring):
    said = f"asterope-record: {measuring.bin}/node: is linked statically"
    measuring.command("record", f'echo "{said}" >&2; exit 2')
    assert measuring.run("node-set").returncode == 0
    assert measuring.result("node-set")["refused"] == "is linked statically"


def test_a_result_is_taken_as_it_is_and_one_left_out_is_asked_for_again(measuring):
    measuring.has(row("node-set"), {**row("node-concat"), "left_out": "there was no node"})
    before = measuring.result("node-set")
    assert measuring.run("node-set", "node-concat").returncode == 0
    assert measuring.result("node-set") == before
    assert "left_out" not in measuring.result("node-concat")
    assert measuring.called("record").count("\n") == 1


# --- Bad input ---


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("echo no module >&2; exit 1", "node ended with exit code 1: no module"),
        ("echo nothing", "the driver prints no result"),
        (
            says("${LD_PRELOAD:+other}$"),
            "its result differs: $ 1073741824 with libc, other$ 1073741824",
        ),
    ],
)
def test_a_driver_that_fails_is_left_out_with_its_reason(measuring, lines, said):
    measuring.node(f'[ "$1" = --version ] && exit; {lines}')
    done = measuring.run("node-set")
    reason = measuring.result("node-set")["left_out"]
    assert said in reason
    assert (done.returncode, done.stderr) == (1, f"survey: node-set is left out: {reason}\n")
    assert f"- node-set (TypedArray.set of 1 MiB): {reason}\n" in done.stdout


def test_a_build_whose_path_has_a_blank_is_preloaded(measuring):
    measuring.build = measuring.build.rename(measuring.build.with_name("a build"))
    measuring.node(f'[ "$1" = --version ] && exit; {says("${LD_PRELOAD// /BLANK}-")}')
    measuring.run("node-set")
    said = measuring.result("node-set")["left_out"]
    assert "libasterope_preload.so- " in said and "BLANK" not in said


def test_a_server_that_does_not_start_is_left_out(survey):
    script(survey.bin / "redis-server", '#!/bin/sh\n[ "$1" = --version ] || exit 3\n')
    done = survey.run("redis")
    assert done.returncode == 1
    assert "redis is left out: " in done.stderr and "redis-server does not start" in done.stderr
    assert list((survey.folder / "scratch").iterdir()) == []


def test_packages_that_are_not_to_be_had_are_left_out(survey):
    for name, lines in (("apt-get", "echo 'E: no such package' >&2; exit 100"), ("dpkg", "exit 9")):
        script(survey.bin / name, f"#!/bin/sh\n{lines}\n")
    (survey.folder / "venv/bin").mkdir(parents=True)
    script(survey.folder / "venv/bin/pip", "#!/bin/sh\necho 'ERROR: no distribution' >&2; exit 1\n")
    survey.environment["PATH"] = str(survey.bin)
    for name, said in (("memcached", "E: no such package"), ("lmdb", "ERROR: no distribution")):
        done = survey.run(name)
        assert done.returncode == 1
        assert f"survey: {name} is left out: " in done.stderr and said in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["numpy-asign"], "there is no program numpy-asign (did you mean numpy-assign?)"),
        (["--rounds", "5"], "'5' is no whole number from 6"),
        (["--work", "1"], "'1' is no time"),
        (["--time", "6m"], "--time: name at most 300s"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(survey, arguments, said):
    assert said in only_error_of("survey", survey.run(*arguments), 2)
    assert list(survey.results.iterdir()) == []


def test_a_missing_folder_or_build_and_a_damaged_result_are_refused(survey):
    assert "required: FOLDER" in only_error_of("survey", run_command(*COMMAND), 2)
    (survey.results / "perl.json").write_text('{"name": "perl"}')
    said = only_error_of("survey", survey.run("--table"), 2)
    assert f"{survey.results}/perl.json: holds no result" in said
    (survey.results / "perl.json").unlink()
    (survey.build / "libasterope_preload.so").unlink()
    said = only_error_of("survey", survey.run(), 2)
    assert "libasterope_preload.so: there is no such file: run scripts/tune" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_running_and_no_result(measuring, number):
    started = measuring.build / "started"
    # the survey must wait for it by then
    lines = f"setsid sleep 600 & sleep 0.3; echo $$ $! >{shlex.quote(str(started))}; wait"
    measuring.node(f'[[ "$1" = *version ]] && exit; {lines}')

    def ready(_: object) -> bool:
        return started.exists() and bool(started.read_text())

    done = interrupted(measuring.arguments("node-set"), ready, number, env=measuring.environment)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "survey: interrupted\n"
    assert_gone(started.read_text().split())
    assert list(measuring.results.iterdir()) == []


# --- Real programs ---


def test_one_wrong_byte_in_numpys_buffer_changes_the_result():
    pytest.importorskip("numpy")
    drivers = COMMAND[1] / "drivers"
    lines = f"""
import runpy, sys
import numpy as np
sys.path.insert(0, {str(drivers)!r})
right = np.copyto
def wrong(to, of):
    right(to, of)
    to[1] += 1
np.copyto = wrong if sys.argv[1] == "wrong" else right
sys.argv[1:] = ["buffer", "3"]
runpy.run_path({str(drivers / "numpy_ways.py")!r})
"""
    results = [
        run_command(sys.executable, "-c", lines, copies).stdout for copies in ("right", "wrong")
    ]
    assert all(re.fullmatch(r"result \d+ 8388608\n", one) for one in results), results
    assert len(set(results)) == 2


@pytest.mark.slow
def test_programs_that_need_no_package_are_measured(build_dir, shipped, repository, tmp_path):
    need("perl", "node")
    build, profile = tmp_path / "build", repository / "generated/reference/xeon-gold-5218.json"
    build.mkdir()
    for name in ("record", "prove", "generate"):
        (build / f"asterope-{name}").symlink_to(build_dir / f"asterope-{name}")
    (build / "libasterope_memcpy.so").symlink_to(shipped)
    preload = build / "libasterope_preload.so"
    generated = run_command(build / "asterope-generate", profile, "--preload", preload, "--quiet")
    assert generated.returncode == 0, generated.stderr
    names = ("python-bytearray", "perl", "node-set")
    short = ("--time", "3s", "--work", "0.2s", "--rounds", "6")
    options = ("--build", build, "--profile", profile, *short)
    done = run_command(*COMMAND, *options, tmp_path / "made", *names, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    for name in names:
        found = json.loads((tmp_path / f"made/results/{name}.json").read_text())
        assert found["recording"]["times"] > 0.9, found
        assert found["recording"]["share"] > 0.1, found
        ratio = found["runs"]["routine"]
        assert ratio["low"] <= ratio["median"] <= ratio["high"]
    assert list((tmp_path / "made/scratch").iterdir()) == []
