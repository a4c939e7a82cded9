"""asterope-tune merge, as a command: files, exit codes, one-line errors."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import SHORTEST, run_command, tune_error
from profile_samples import of

pytestmark = pytest.mark.one_cpu

SEARCH = (*SHORTEST, "--sizes", "128,1K", "--threads", "1", "--quiet", "--no-generate")

TWO = ("whole1.trials", "whole2.trials")
Run = Callable[..., subprocess.CompletedProcess]


@pytest.fixture(scope="module")
def tune(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return partial(run_command, build_dir / "asterope-tune", cwd=tmp_path_factory.mktemp("merge"))


@pytest.fixture(scope="module")
def searches(tune: Run) -> Path:
    """The folder of two searches, each with its log."""
    for log in TWO:
        done = tune(*SEARCH, "--seed", log[5], "-o", f"{log}.json", "--log", log)
        assert done.returncode == 0, done
    return tune.keywords["cwd"]


def test_the_merged_is_sound_renders_and_fits(tune: Run, searches: Path, build_dir: Path):
    done = tune("merge", *TWO, "-o", "common.json")
    assert done.returncode == 0, done
    assert "2 sizes from 2 machines; profile: common.json" in done.stdout
    profile = load_profile(searches / "common.json")
    assert profile.complete
    sources = profile.raw["merged"]["sources"]
    assert {source["name"] for source in sources} == set(TWO)
    assert all(0 < one["evidence"]["of_best"]["worst"] <= 1 for one in of(profile.raw))
    assert tune("check", "common.json").returncode == 0
    rendered = ("common.json", "-o", "rendered")
    assert run_command(build_dir / "asterope-generate", *rendered, cwd=searches).returncode == 0


def test_check_compares_with_the_nearest_of_the_merged_machines(tune: Run, searches: Path):
    header, *figures = (searches / "whole1.trials").read_text().splitlines(keepends=True)
    other = json.loads(header)
    other["machine"]["memory_bytes"] = int(other["machine"]["memory_bytes"] * 0.95)
    other["machine"]["fingerprint"] = "0" * 16
    (searches / "other.trials").write_text("".join([json.dumps(other) + "\n", *figures]))
    for files in (("other.trials", "whole2.trials"), ("whole2.trials", "other.trials")):
        assert tune("merge", *files, "-o", "nearest.json").returncode == 0
        assert tune("check", "nearest.json").returncode == 0
    assert tune("replay", "other.trials", "-o", "other.json", "--no-generate").returncode == 0
    assert tune("check", "other.json").returncode == 3


REFUSED = {
    "an unfinished log": (["whole1.trials", "cut.trials", "-o", "kept.json"], "--resume"),
    "one log, unread": (["no.trials", "-o", "kept.json"], "give two logs at least"),
    "no file": (["whole1.trials", "missing.trials", "-o", "kept.json"], "missing.trials"),
    "an input as the output": ([*TWO, "-o", "whole1.trials"], "is one of the inputs"),
    "an output in no folder": ([*TWO, "-o", "no/such/folder/out.json"], "no/such/folder"),
    "no output": (TWO, "-o"),
}


@pytest.mark.parametrize(("given", "said"), REFUSED.values(), ids=REFUSED)
def test_inputs_that_do_not_merge_are_refused_and_all_files_stay(
    tune: Run, searches: Path, given: list[str], said: str
):
    """The reader of logs and the merge have tests of their own."""
    lines = (searches / "whole2.trials").read_text().splitlines(keepends=True)
    (searches / "cut.trials").write_text("".join(lines[: len(lines) // 2]))
    (searches / "kept.json").write_text("before")
    before = {path: path.read_bytes() for path in searches.iterdir() if path.is_file()}
    assert said in tune_error(tune("merge", *given), 2)
    assert {path: path.read_bytes() for path in searches.iterdir() if path.is_file()} == before
