"""asterope-tune merge, as a command: files, exit codes, one-line errors."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import only_error_of, run_command
from profile_samples import of

pytestmark = pytest.mark.one_cpu

SEARCH = ("--rigor", "quick", "--sizes", "128,1K", "--workload", "hot", "--space", "paper")
SEARCH += ("--operations", "memcpy", "--threads", "1", "--quiet", "--no-generate")
SEARCH += ("--without", "avx2,avx512,sensing")  # fewer candidates: less to verify

Run = Callable[..., subprocess.CompletedProcess]


@pytest.fixture(scope="module")
def tune(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("merge")

    run = partial(run_command, build_dir / "asterope-tune", cwd=folder)
    run.folder = folder
    return run


only_error = partial(only_error_of, "asterope-tune")


@pytest.fixture(scope="module")
def searches(tune: Run) -> Path:
    """Two searches, each with its log."""
    for seed in (1, 2):
        files = ("-o", f"whole{seed}.json", "--log", f"whole{seed}.trials")
        done = tune(*SEARCH, "--seed", seed, *files)
        assert done.returncode == 0, done
    return tune.folder


def error_of(tune: Run, *arguments: object) -> str:
    """The refusal of a merge, after which what was at -o before is still there."""
    out = tune.folder / "kept.json"
    out.write_text("before")
    error = only_error(tune("merge", *arguments, "-o", out), 2)
    assert out.read_text() == "before"
    return error


def test_searches_merge_to_a_sound_profile_that_renders_and_fits_here(
    tune: Run, searches: Path, build_dir: Path
):
    done = tune("merge", "whole1.trials", "whole2.trials", "-o", "common.json")
    assert done.returncode == 0, done
    assert "2 sizes from 2 machines; profile: common.json" in done.stdout
    profile = load_profile(searches / "common.json")
    assert profile.complete
    sources = profile.raw["merged"]["sources"]
    assert sorted(source["name"] for source in sources) == ["whole1.trials", "whole2.trials"]
    assert all(0 < one["evidence"]["of_best"]["worst"] <= 1 for one in of(profile.raw))
    assert tune("check", "common.json").returncode == 0
    command = [build_dir / "asterope-generate", "common.json", "-o", "rendered"]
    assert subprocess.run(command, cwd=searches, capture_output=True).returncode == 0
    again = ("merge", "whole2.trials", "whole1.trials", "-o", "common2.json", "--quiet")
    assert tune(*again).returncode == 0
    assert (searches / "common2.json").read_bytes() == (searches / "common.json").read_bytes()


def test_check_compares_with_the_machine_among_the_merged_ones_that_is_nearest(
    tune: Run, searches: Path
):
    header, *trials = (searches / "whole1.trials").read_text().splitlines(keepends=True)
    other = json.loads(header)
    other["machine"]["memory_bytes"] = int(other["machine"]["memory_bytes"] * 0.95)
    other["machine"]["fingerprint"] = "0" * 16
    (searches / "other.trials").write_text("".join([json.dumps(other) + "\n", *trials]))
    for files in (("other.trials", "whole2.trials"), ("whole2.trials", "other.trials")):
        assert tune("merge", *files, "-o", "nearest.json").returncode == 0
        assert tune("check", "nearest.json").returncode == 0
    assert tune("replay", "other.trials", "-o", "other.json", "--no-generate").returncode == 0
    assert tune("check", "other.json").returncode == 3


# --- What is refused; what reads logs, and what merges them, has tests of its own -----------------

REFUSED = {
    "an unfinished log": (["whole1.trials", "cut.trials"], "--resume"),
    "no file": (["whole1.trials", "missing.trials"], "missing.trials"),
}


@pytest.fixture(scope="module")
def faulty(searches: Path) -> None:
    """More files beside the searches."""
    header, *trials = (searches / "whole2.trials").read_text().splitlines(keepends=True)
    (searches / "cut.trials").write_text("".join([header, *trials[: len(trials) // 2]]))


@pytest.mark.parametrize(("inputs", "said"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_merge_is_refused(tune: Run, faulty, inputs: list[object], said: str):
    assert said in error_of(tune, *inputs)


def test_an_input_is_not_overwritten(tune: Run, searches: Path):
    before = (searches / "whole1.trials").read_bytes()
    command = ("merge", "whole1.trials", "whole2.trials", "-o", "whole1.trials")
    assert "is one of the inputs" in only_error(tune(*command), 2)
    assert (searches / "whole1.trials").read_bytes() == before


def test_output_must_be_writable_and_given(tune: Run, searches: Path):
    done = tune("merge", "whole1.trials", "whole2.trials", "-o", "no/such/folder/out.json")
    assert "no/such/folder" in only_error(done, 2)
    only_error(tune("merge", "whole1.trials", "whole2.trials"), 2)
