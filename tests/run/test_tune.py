"""Whole runs of asterope-tune: their profile, routine, log, exam and output."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from asterope import __version__, workloads
from asterope.profile import load_profile
from bench_command import FIXED, MIXES, PAGE_ENDS
from command_errors import SHORTEST, json_lines, on_terminal, run_command, tune_error
from profile_samples import of

pytestmark = pytest.mark.one_cpu

SMALL = {*MIXES, "spread", *FIXED, *PAGE_ENDS}

ROUTINE = {"asterope_memcpy.c", "asterope_memcpy.h"}


def measured_at(size: int) -> set[str]:
    """The workloads under which the winner of that size is measured."""
    return {
        one.name
        for one in workloads.chosen("measured")
        if one.from_bytes <= size <= (one.to_bytes or size)
    }


class Tuned:
    """The files of a run that ended well."""

    def __init__(self, build_dir: Path, folder: Path, *arguments: object) -> None:
        # The limit ends runs that hang; beside other work, a run may take several times as long.
        self.done = done = run_command(
            build_dir / "asterope-tune", *arguments, "--verbose", cwd=folder, timeout=900
        )
        # With --strict, a loss in its exam ends it with 1.
        assert done.returncode == 0 or "--strict" in arguments, done
        assert bool(done.stderr) == bool(done.returncode), done
        for text in (done.stdout, done.all_stderr):  # no terminal, no progress line
            assert not re.search("\033|\r| left", text)
        self.folder, self.stdout = folder, done.stdout
        self.checked = load_profile(folder / "asterope-profile.json")
        self.profile = self.checked.raw
        self.pipelines = of(self.profile)

    def log(self) -> list[dict]:
        return json_lines(self.folder / "trials.jsonl")

    def samples(self, of_step: str | None = None) -> list[dict]:
        samples, step = [], ""
        for figure in self.log():
            step = figure.get("step", step)
            if "ns" in figure and of_step in (None, step):
                samples.append(figure)
        return samples


@pytest.fixture(scope="module")
def tuned(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    options = ("--rigor", "quick", "--sizes", "128,1K", "--workload", "hot", "--seed", "7")
    return Tuned(build_dir, tmp_path_factory.mktemp("tuned"), *options, "--log", "trials.jsonl")


def assert_ranked_by(choice: dict, weights: dict[str, float], measured: set[str]) -> None:
    """All measured figures are there, and those that count make the ratio."""
    evidence = choice["evidence"]
    assert set(evidence["workloads"]) == measured
    logs = {name: math.log(one["ratio"]["median"]) for name, one in evidence["workloads"].items()}
    mean = math.exp(sum(weight * logs[name] for name, weight in weights.items()))
    assert evidence["ratio"] == pytest.approx(mean, rel=1e-3)


# --- A whole run ----------------------------------------------------------------------------------


def test_a_run_writes_routine_log_and_a_profile_that_says_how_it_was_found(tuned: Tuned) -> None:
    assert {*os.listdir(tuned.folder)} == {"asterope-profile.json", "trials.jsonl"} | ROUTINE
    search = tuned.profile["search"]
    expected = {
        **{"tool_version": __version__, "rigor": "quick", "workload": "hot", "space": "extended"},
        **{"seed": 7, "invalid": [], "weights": {"memcpy": {"hot": 1}, "memset": {"hot": 1}}},
    }
    assert search.items() >= expected.items()
    assert {"tb", "dir"} <= {*search["axes"]} and "sensing" not in search["axes"]  # mixes sense
    assert not tuned.checked.intents  # it is for one workload itself
    assert search["cpu"] in os.sched_getaffinity(0)
    assert search["started"] <= search["finished"]


def test_each_choice_has_winner_runners_up_and_noise_floor(tuned: Tuned) -> None:
    first, second = tuned.pipelines
    assert (first["size"], second["size"]) == (128, 1024)
    assert 128 <= first["up_to"] < second["up_to"] == 1024
    for choice in tuned.pipelines:
        measured_here = measured_at(choice["size"])
        assert set(choice["evidence"]["noise_floor"]) == measured_here
        assert len(choice["evidence"]["runners_up"]) == 2
        assert_ranked_by(choice, {"hot": 1}, measured_here)
        for ratio in (one["ratio"] for one in choice["evidence"]["workloads"].values()):
            assert ratio["low"] <= ratio["median"] <= ratio["high"]


def test_the_log_has_the_header_and_every_sample(tuned: Tuned) -> None:
    header, *figures = tuned.log()
    samples = tuned.samples()
    assert header["machine"] == tuned.profile["machine"]
    assert len(samples) == tuned.profile["search"]["trials"]
    expected = {(size, workload) for size in (128, 1024) for workload in measured_at(size)}
    assert {(one["size"], one["workload"]) for one in figures if "calls" in one} >= expected
    found = {(sample["size"], sample["workload"]) for sample in samples if sample["size"]}
    assert found >= {*expected, (1024, "aliased")}  # from 512 bytes on
    fixed = {"fixed", "fixed_read"}
    assert {sample["size"] for sample in samples if sample["workload"] in fixed} > {0, 1, 8, 256}
    of_many_sizes = {sample["workload"] for sample in samples if not sample["size"]}
    assert of_many_sizes == SMALL | {"overlapping", "overlapping_pages"}
    names = [sample["candidate"] for sample in samples]
    assert names.count("libc") > len(names) / 30  # all along
    steps = [figure["step"] for figure in figures if "step" in figure]
    first = ["calibration", "pipelines 1024", "small copies", "overlapping buffers"]
    assert steps[:5] == [*first, "pipelines 128"]
    assert len(set(steps)) == len(steps)
    assert figures[-1]["finished"] == tuned.profile["search"]["finished"]


def test_the_log_and_the_profile_tell_the_same(tuned: Tuned) -> None:
    """The winner's median comes from the contest at its size."""
    for choice in tuned.checked.of("pipelines"):
        wanted = (choice.size, choice.copy.name, "hot")
        ns: dict[int, float] = {}
        for sample in tuned.samples(f"rows {choice.size}"):
            if (sample["size"], sample["candidate"], sample["workload"]) == wanted:
                ns.pop(sample["round"], None)  # it was timed again, as something hit the round
                ns[sample["round"]] = sample["ns"]
        rounds = choice.evidence["proof"]["rounds"]
        last = sorted([*ns.values()][-rounds:])
        assert len(last) == rounds
        assert last[len(last) // 2] == pytest.approx(choice.timing("hot")["ns"], rel=1e-3)


def test_the_small_copies_have_all_figures_and_the_routine_their_winner(tuned: Tuned) -> None:
    (small,) = of(tuned.profile, "small")
    assert tuned.profile["search"]["distribution"] == "fleet"
    assert set(small["evidence"]["noise_floor"]) == SMALL
    assert 1 <= len(small["evidence"]["runners_up"]) <= 2
    says = "Up to {bound} bytes, whatever the rows above say: small copies, {shape}, {rt}, "
    source = (tuned.folder / "asterope_memcpy.c").read_text()
    assert says.format_map(small["copies"]["taken"]) in source


def test_memset_has_winners_small_sets_and_a_log_of_its_own(tuned: Tuned) -> None:
    search, sets = tuned.profile["search"], of(tuned.profile, operation="memset")
    assert [choice["size"] for choice in sets] == [128, 1024]
    timed = {one.name for one in workloads.chosen("sets") if not one.fresh}  # from 64 KiB on
    weights = {name: w for name, w in search["weights"]["memset"].items() if name in timed}
    whole = sum(weights.values())
    for choice in sets:
        assert_ranked_by(choice, {name: w / whole for name, w in weights.items()}, timed)
    assert tuned.checked.the("small", "memset")
    assert search["candidates"]["memset"] > 10 and tuned.profile["exam"]["memset"]["cells"] > 10
    steps = {figure["step"] for figure in tuned.log() if "step" in figure}
    assert {"memset calibration", "memset pipelines 1024", "memset small copies"} <= steps
    assert tuned.log()[0]["options"]["set_sizes"] == [128, 1024]
    assert "\nmemset\n" in tuned.stdout and "\nSmall sets\n" in tuned.stdout
    source = (tuned.folder / "asterope_memcpy.c").read_text(encoding="ascii")
    assert "void *asterope_memset(" in source


APP = """#include "asterope_memcpy.h"
int main(void) { char a[] = "a", b[2]; return asterope_memcpy(b, a, 2) != b; }
"""


def test_a_replay_gives_the_same_profile_and_few_lines(
    tune, balanced: Tuned, tuned: Tuned, tmp_path: Path
) -> None:
    (tmp_path / "a folder").mkdir()
    for one, path in ((balanced, "a folder/p.json"), (tuned, "p.json")):
        done = tune("replay", one.folder / "trials.jsonl", "-o", path)
        assert done.returncode == 0, done
        written = (one.folder / "asterope-profile.json").read_bytes()
        assert (tmp_path / path).read_bytes() == written
        lines = done.stdout.splitlines()
        (tmp_path / "app.c").write_text(APP)
        subprocess.run(lines[-1].removeprefix("next: "), shell=True, check=True, cwd=tmp_path)
    losses = sum(len(exam["losses"]) for exam in tuned.profile["exam"].values())
    assert len(lines) <= 42 + losses
    assert "as fast as libc" in lines[2]  # the gain comes first
    assert " RT " not in done.stdout
    for heading in ("Small copies\n", "Overlapping buffers\n", "Time spent on", "lead: "):
        assert heading not in done.stdout
        assert heading in tuned.stdout


WITHOUT = "avx,sse4_1,movdir64b,3dnowprefetch"  # avx2 and avx512 as well


@pytest.fixture(scope="module")
def shown(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run at a terminal, as if on an older CPU, and its output."""
    folder = tmp_path_factory.mktemp("shown")
    # long enough for a line at any speed: each 0.2 s
    asked = ("--rigor", "quick", "--workload", "hot", "--sizes", "1K", "--without", WITHOUT)
    code, text = on_terminal([build_dir / "asterope-tune", *asked], cwd=folder)
    assert code == 0, text
    return folder, text


def test_a_terminal_gets_a_progress_line_with_the_time_left(shown: tuple[Path, str]) -> None:
    _, text = shown
    assert re.search(r"\r\033\[K *\d+ %  \w[\w ]+  (\d+ min )?\d+ s left", text), text
    # sets, which come second, count from the start
    percents = [int(text) for text in re.findall(r"\033\[K *(\d+) %", text)]
    assert all(after > before - 50 for before, after in zip(percents, percents[1:])), percents
    assert "%  memset " in text
    # and is taken away at the end; the result follows
    assert " s left" not in text.rpartition("\r\033[K")[2]


def test_quiet_prints_nothing_and_of_memcpy_alone_there_is_no_memset(tune, tmp_path: Path) -> None:
    first = min(os.sched_getaffinity(0))
    where = ("--cpu", first, "--log", "p.trials", "-o", "other name.json")
    done = tune(*SHORTEST, "--sizes", "1K,200,1024", *where, "--quiet")
    assert (done.returncode, done.stdout, done.all_stderr) == (0, "", "")
    assert {*os.listdir(tmp_path)} == {"other name.json", "p.trials"} | ROUTINE
    profile = load_profile(tmp_path / "other name.json")
    assert not profile.has("memset") and profile.search["cpu"] == first
    assert profile.raw["exam"].keys() == profile.raw["search"]["weights"].keys() == {"memcpy"}
    lines = json_lines(tmp_path / "p.trials")
    assert not [line for line in lines if line.get("step", "").startswith("memset")]
    assert "asterope_memset" not in (tmp_path / "asterope_memcpy.c").read_text(encoding="ascii")
    assert [one.size for one in profile.of("pipelines")] == [200, 1024]  # in order, and each once
    replayed = tune("replay", "p.trials", "-o", "p.json")
    assert replayed.returncode == 0 and "no memset" in replayed.stdout


@pytest.mark.slow
def test_a_mapped_source_is_only_read_and_has_winners(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "map").write_bytes(b"map!" * (1 << 20))
    options = (*SHORTEST, "--sizes", "4K", "--source-map", "map", "--log", "trials.jsonl")
    tuned = Tuned(build_dir, tmp_path, *options)
    read_only = {one.name for one in workloads.WORKLOADS if not one.writes_source}
    (choice,) = tuned.pipelines
    assert set(choice["evidence"]["workloads"]) == measured_at(4096) & read_only
    assert {sample["workload"] for sample in tuned.samples()} <= read_only
    assert tuned.profile["search"]["source_map"] == "map"


# --- The purpose of a search ----------------------------------------------------------------------


BALANCED = (
    *("--rigor", "quick", "--operations", "memcpy", "--sizes", "2K,64K"),
    *("--recording", "r.json", "--strict", "--without", "avx512"),  # has most small copies
)


@pytest.fixture(scope="module")
def balanced(build_dir: Path, check: Path, tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A run for the mix of workloads and a recorded program, at a size too small to sense and at
    one large enough, whose exam is strict."""
    folder = tmp_path_factory.mktemp("balanced")
    record = (build_dir / "asterope-record", "-o", "r.json", "--", check, "mixture", "20000")
    assert run_command(*record, cwd=folder).returncode == 0
    return Tuned(build_dir, folder, *BALANCED, "--log", "trials.jsonl")


def test_a_recordings_small_copies_are_drawn_and_all_else_is_balanced(balanced: Tuned) -> None:
    search = balanced.profile["search"]
    assert (search["workload"], search["distribution"]) == ("balanced", "record_check")
    assert dict(json.loads((balanced.folder / "r.json").read_text())["sizes"])[10] == 20_000
    assert set(balanced.checked.intents) == {"hot", "cold", "consume"}
    for choice in balanced.pipelines:
        if "probe" in choice["copies"]:  # where the counter serves it, and 4 KiB are copied
            assert "sensing" in search["axes"] and choice["size"] == 65536


def test_features_that_it_is_to_do_without_are_nowhere(shown: tuple[Path, str]) -> None:
    folder, _ = shown
    profile = load_profile(folder / "asterope-profile.json").raw
    assert profile["search"]["without"] == WITHOUT.split(",")
    assert not re.search("ZMM|masked", json.dumps([of(profile), of(profile, "small")]))
    routine = (folder / "asterope_memcpy.c").read_text()
    assert not re.search(r"cpuid|[yz]mm|%k1|avx512|movntdqa", routine)


# --- The exam: the compiled routine beside libc ---------------------------------------------------


def test_the_routine_runs_beside_libc_at_the_sizes_and_between_them(balanced: Tuned) -> None:
    for step in ("exam 1 2048", "exam 1 11585", "exam 1 65536", "exam 1"):
        timed = {sample["candidate"] for sample in balanced.samples(step)}
        assert timed == {"libc", "routine 1"}, step
    exam = balanced.profile["exam"]["memcpy"]
    assert exam["cells"] > 30
    assert all(loss["ratio"]["high"] < 0.97 for loss in exam["losses"])
    rounds = exam["rounds"]
    assert rounds["count"] >= 3 * exam["cells"]
    assert 0 < rounds["slowest"] <= rounds["median"] and 0 < rounds["floor"] <= 1


def test_strict_fails_exactly_where_the_exam_found_a_loss(balanced: Tuned) -> None:
    exam, done = balanced.profile["exam"]["memcpy"], balanced.done
    losses = exam["losses"]
    assert done.returncode == (1 if losses else 0)
    assert ("--strict: the compiled routine is slower than libc" in done.stderr) == bool(losses)
    assert {*os.listdir(balanced.folder)} > ROUTINE
    told = f"{len(losses)} of " if losses else "none of "
    assert f"{told}{exam['cells']} cells slower" in " ".join(done.stdout.split())


def test_without_a_compiler_strict_fails(tune, balanced: Tuned, tmp_path: Path) -> None:
    """A run that goes on where that one came to its exam."""
    shutil.copy(balanced.folder / "r.json", tmp_path)
    lines = (balanced.folder / "trials.jsonl").read_bytes().splitlines(keepends=True)
    begin = next(i for i, line in enumerate(lines) if b'"exam' in line)
    (tmp_path / "asterope-profile.json.trials").write_bytes(b"".join(lines[:begin]))
    done = tune(*BALANCED, "--resume", env={**os.environ, "CC": "/missing/cc"})
    assert "warning: the routine was not examined: " in done.all_stderr
    assert "--strict: the compiled memcpy was not examined: " in tune_error(done, 1)
    assert "exam" not in load_profile(tmp_path / "asterope-profile.json").raw
    assert {*os.listdir(tmp_path)} > ROUTINE
