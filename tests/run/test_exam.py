"""The exam: the compiled routine beside libc at the end of a run, and asterope-tune --strict."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import run_command
from trial_logs import log_lines_of

pytestmark = pytest.mark.one_cpu

RUN = (
    *("--rigor", "quick", "--operations", "memcpy"),
    *("--sizes", "1K,4K", "--space", "paper", "--threads", "1"),
)


def tune(
    build_dir: Path, folder: Path, *options: str, cc: str = "cc"
) -> subprocess.CompletedProcess:
    return run_command(
        build_dir / "asterope-tune",
        *RUN,
        *options,
        "-o",
        "p.json",
        cwd=folder,
        env={**os.environ, "CC": cc},
    )


@pytest.fixture(scope="module")
def examined(
    build_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess]:
    folder = tmp_path_factory.mktemp("examined")
    return folder, tune(build_dir, folder, "--strict", "--log", "trials.jsonl")


def timed_in(steps: Sequence[str], log: Path) -> dict[str, set[str]]:
    """The names of the copies that were timed in each of these steps."""
    names: dict[str, set[str]] = {step: set() for step in steps}
    step = ""
    for line in log_lines_of(log.read_bytes())[1:]:
        step = line.get("step", step)
        if "candidate" in line and step in names:
            names[step].add(line["candidate"])
    return names


def test_the_routine_runs_beside_libc_at_the_sizes_and_between_them(examined) -> None:
    folder, _ = examined
    steps = ["exam 1 1024", "exam 1 2048", "exam 1 4096", "exam 1"]
    for step, names in timed_in(steps, folder / "trials.jsonl").items():
        assert names == {"libc", "routine 1"}, step
    exam = load_profile(folder / "p.json").raw["exam"]["memcpy"]
    assert exam["cells"] > 30
    assert all(loss["ratio"]["high"] < 0.97 for loss in exam["losses"])
    rounds = exam["rounds"]
    assert rounds["count"] >= 3 * exam["cells"]
    assert 0 < rounds["slowest"] <= rounds["median"] and 0 < rounds["floor"] <= 1


def test_strict_fails_exactly_where_the_exam_found_a_loss(examined) -> None:
    folder, done = examined
    exam = load_profile(folder / "p.json").raw["exam"]["memcpy"]
    losses = exam["losses"]
    assert done.returncode == (1 if losses else 0)
    assert ("--strict: the compiled routine is slower than libc" in done.stderr) == bool(losses)
    assert (folder / "asterope_memcpy.c").exists()
    told = f"{len(losses)} of " if losses else "none of "
    told += f"{exam['cells']} cells slower"
    assert told in " ".join(done.stdout.split())


def test_without_a_compiler_the_run_says_so_and_strict_fails(
    examined, build_dir: Path, tmp_path: Path
) -> None:
    """A run that goes on where that one came to its exam."""
    lines = (examined[0] / "trials.jsonl").read_bytes().splitlines(keepends=True)
    begin = next(i for i, line in enumerate(lines) if b'"exam' in line)
    (tmp_path / "p.json.trials").write_bytes(b"".join(lines[:begin]))
    done = tune(build_dir, tmp_path, "--strict", "--resume", cc="/missing/cc")
    assert done.returncode == 1
    assert "warning: the routine was not examined: " in done.all_stderr
    assert done.stderr.splitlines()[-1].startswith(
        "asterope-tune: --strict: the compiled routine was not examined: "
    )
    assert "exam" not in load_profile(tmp_path / "p.json").raw
    assert (tmp_path / "asterope_memcpy.c").exists()
