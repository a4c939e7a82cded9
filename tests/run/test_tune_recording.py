"""From a program's recording to small copies of its sizes: asterope-tune --recording."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from asterope.profile import load_profile
from command_errors import only_error_of, run_command
from trial_logs import log_lines_of

pytestmark = pytest.mark.one_cpu

RUN = ("--rigor", "quick", "--operations", "memcpy", "--sizes", "512,64K", "--space", "paper")

# Small copies of three sizes in one order, and large ones from memory into one buffer.
PROGRAM = """
#include <stdlib.h>
#include <string.h>
int main(void)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    const size_t piece = 65536, pieces = 512;
    char *from = malloc(pieces * piece), *to = malloc(piece), small[256];
    memset(from, 1, pieces * piece);
    for (int round = 0; round < 40; ++round)
        for (size_t i = 0; i < pieces; ++i) {
            copy(to, from + i * piece, piece);
            for (int k = 0; k < 30; ++k) copy(small + 7, from + k, (size_t)(k % 3) * 40 + 1);
        }
    return to[5] + small[7] != 2;
}
"""

only_error = partial(only_error_of, "asterope-tune")


@pytest.fixture(scope="module")
def recorded(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program and its recording."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "copies.c").write_text(PROGRAM)
    compile_it = ["cc", "-O1", "-fno-builtin", "copies.c", "-o", "copies"]
    subprocess.run(compile_it, cwd=folder, check=True, timeout=60)
    done = run_command(build_dir / "asterope-record", "-o", "r.json", "--", "./copies", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def tuned(build_dir: Path, recorded: Path) -> Path:
    """The same folder with p.json and its routine, tuned for the recording."""
    done = run_command(
        build_dir / "asterope-tune", *RUN, "--recording", "r.json", "--log", "trials.jsonl",
        "-o", "p.json", cwd=recorded)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return recorded


def test_its_small_copies_are_drawn_and_all_else_is_balanced(tuned: Path) -> None:
    profile: dict[str, Any] = load_profile(tuned / "p.json").raw
    assert profile["search"]["workload"] == "balanced"
    assert profile["search"]["distribution"] == "copies"
    sizes = dict(json.loads((tuned / "r.json").read_text())["sizes"])
    assert all(sizes[size] >= 40 * 512 * 10 for size in (1, 41, 81))


def test_a_replay_of_the_log_gives_the_same_profile_without_the_recording(
    build_dir: Path, tuned: Path, tmp_path: Path
) -> None:
    log = tmp_path / "trials.jsonl"
    log.write_bytes((tuned / "trials.jsonl").read_bytes())
    assert log_lines_of(log.read_bytes())[0]["options"]["distribution"] == "copies"
    done = run_command(
        build_dir / "asterope-tune", "replay", "trials.jsonl", "-o", "again.json", "--no-generate",
        cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again.json").read_bytes() == (tuned / "p.json").read_bytes()


def test_what_is_no_recording_gets_one_line_and_nothing_is_written(
    build_dir: Path, tmp_path: Path
) -> None:
    done = run_command(build_dir / "asterope-tune", *RUN, "--recording", "r.json", cwd=tmp_path)
    assert "No such file" in only_error(done, 2)
    assert list(tmp_path.iterdir()) == []
