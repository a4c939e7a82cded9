"""asterope-tune merge, as a command: files, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import make_device, only_error_of, run_command
from conftest import REPOSITORY
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


def without_names(path: Path) -> dict:
    """The profile but for what its sources are called."""
    profile = json.loads(path.read_text())
    for source in profile["merged"]["sources"]:
        del source["name"]
    return profile


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


# --- What is refused ------------------------------------------------------------------------------


REFUSED = {
    "one search alone": (["whole1.trials"], "there is nothing to merge with whole1.trials"),
    "one search twice": (["whole1.trials", "whole1.trials"], "one and the same search"),
    "another machine": (["whole1.trials", "other-cpu.trials"], "cpu.model"),
    "a profile for a log": (["whole1.trials", "whole2.json"], "needs their logs"),
    "an unfinished log": (["whole1.trials", "cut.trials"], "--resume"),
    "a pipe that nobody writes to": (["whole1.trials", "pipe"], "a pipe that nothing was written"),
    "no file": (["whole1.trials", "missing.trials"], "missing.trials"),
    "a folder": (["whole1.trials", REPOSITORY], str(REPOSITORY)),
    "nothing": (["whole1.trials", "/dev/null"], "/dev/null"),
}


@pytest.fixture(scope="module")
def faulty(searches: Path) -> None:
    """More files beside the searches."""
    header, *trials = (searches / "whole2.trials").read_text().splitlines(keepends=True)
    changed = json.loads(header)
    changed["machine"]["cpu"]["model"] = 12345
    (searches / "other-cpu.trials").write_text("".join([json.dumps(changed) + "\n", *trials]))
    (searches / "cut.trials").write_text("".join([header, *trials[: len(trials) // 2]]))
    os.mkfifo(searches / "pipe")


@pytest.mark.parametrize(("inputs", "said"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_merge_is_refused(tune: Run, faulty, inputs: list[object], said: str):
    assert said in error_of(tune, *inputs)


@pytest.mark.parametrize(
    "content", [b"{}", b"\0\1\2", b'{"format": "asterope-trials"}\n', b"\x1f\x8b\x08broken"]
)
def test_what_is_no_log_is_refused(tune: Run, searches: Path, content: bytes):
    (searches / "junk").write_bytes(content)
    assert "junk" in error_of(tune, "whole1.trials", "junk")


# What stands where in the header of a log, None for nothing at all, and what the refusal says.
HEADERS = {
    "machine.kernel": ([], "machine.kernel: an array where a string is expected"),
    "machine.caches": (None, "machine.caches: missing"),
}


@pytest.mark.parametrize("path", HEADERS)
def test_a_header_that_no_profile_may_have_is_refused(tune: Run, searches: Path, path: str):
    value, expected = HEADERS[path]
    first, *trials = (searches / "whole1.trials").read_text().splitlines(keepends=True)
    header = place = json.loads(first)
    *outer, last = path.split(".")
    for name in outer:
        place = place[name]
    place[last] = value
    if value is None:
        del place[last]
    (searches / "changed.trials").write_text("".join([json.dumps(header) + "\n", *trials]))
    error = error_of(tune, "changed.trials", "whole2.trials")
    assert f"log changed.trials: line 1: {expected}" in error
    done = tune("replay", "changed.trials", "-o", "changed.json", "--quiet", "--no-generate")
    assert f"log changed.trials: line 1: {expected}" in only_error(done, 2)
    assert not (searches / "changed.json").exists()


def test_inputs_come_through_pipes_and_with_byte_order_marks(
    tune: Run, searches: Path, build_dir: Path
):
    inputs = ("whole1.trials", "whole2.trials")
    assert tune("merge", *inputs, "-o", "files.json").returncode == 0
    marked = b"\xef\xbb\xbf" + (searches / inputs[0]).read_bytes()
    command = f"exec '{build_dir}/asterope-tune' merge /dev/stdin <(cat {inputs[1]})"
    command += " -o /dev/fd/3 --quiet 3>pipes.json"
    done = subprocess.run(["bash", "-c", command], cwd=searches, input=marked, timeout=60)
    assert done.returncode == 0

    assert without_names(searches / "pipes.json") == without_names(searches / "files.json")


@pytest.mark.parametrize("depth", [17, 100_000])
def test_deep_inputs_are_refused(tune: Run, searches: Path, depth: int):
    first, rest = (searches / "whole1.trials").read_text().split("\n", 1)
    deep = first.replace('"fleet"', "[" * depth + "]" * depth, 1)
    (searches / "deep").write_text(deep + "\n" + rest)
    assert "log deep: line 1 column" in error_of(tune, "whole2.trials", "deep")
    assert "log deep: line 1 column" in only_error(tune("replay", "deep", "-o", "x.json"), 2)


# --- No regular files, and ends from outside ------------------------------------------------------


@pytest.mark.parametrize("link", [False, True], ids=["itself", "behind a link"])
def test_a_device_as_output_stays_one(tune: Run, searches: Path, tmp_path: Path, link: bool):
    node, output = make_device(tmp_path / "node"), tmp_path / ("link" if link else "node")
    if link:
        output.symlink_to("node")
    assert tune("merge", "whole1.trials", "whole2.trials", "-o", output).returncode == 0
    assert tune("replay", "whole1.trials", "-o", output, "--no-generate").returncode == 0
    assert stat.S_ISCHR(node.stat().st_mode)
    assert output.is_symlink() == link
    assert len(list(tmp_path.iterdir())) == 1 + link


def test_a_file_beyond_its_limit_fails_and_leaves_nothing(
    tune: Run, searches: Path, tmp_path: Path
):
    (tmp_path / "out.json").write_text("before")
    small = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (4096, 4096))
    for command in (
        ("merge", searches / "whole1.trials", searches / "whole2.trials"),
        ("replay", searches / "whole1.trials", "--no-generate"),
    ):
        options = (*command, "-o", "out.json", "--quiet")
        done = tune(*options, cwd=tmp_path, preexec_fn=small)
        error = only_error(done, 1)
        assert "cannot write out.json: File too large" in error
        assert (tmp_path / "out.json").read_text() == "before"
        assert os.listdir(tmp_path) == ["out.json"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_merge_with_one_line(
    searches: Path, build_dir: Path, tmp_path: Path, number: int
):
    command = [build_dir / "asterope-tune", "merge", searches / "whole1.trials", "/dev/stdin"]
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [*command, "-o", "out.json"],
        cwd=tmp_path,
        stdin=read_end,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.write(write_end, b"{")
    while select.select([read_end], [], [], 0)[0]:  # until it has begun to read
        time.sleep(0.01)
    process.send_signal(number)
    process.wait(timeout=60)
    os.close(read_end)
    os.close(write_end)
    assert (process.returncode, process.stderr.read()) == (130, "asterope-tune: interrupted\n")
    assert os.listdir(tmp_path) == []


def test_what_a_killed_merge_left_is_removed_by_the_next(tune: Run, searches: Path):
    (searches / ".next.json.aB3dEf.tmp").write_text("half")
    assert tune("merge", "whole1.trials", "whole2.trials", "-o", "next.json").returncode == 0
    assert not list(searches.glob(".next.json.*"))


def test_an_input_is_not_overwritten(tune: Run, searches: Path):
    before = (searches / "whole1.trials").read_bytes()
    command = ("merge", "whole1.trials", "whole2.trials", "-o", "whole1.trials")
    assert "is one of the inputs" in only_error(tune(*command), 2)
    assert (searches / "whole1.trials").read_bytes() == before


def test_output_must_be_writable_and_given(tune: Run, searches: Path):
    done = tune("merge", "whole1.trials", "whole2.trials", "-o", "no/such/folder/out.json")
    assert "no/such/folder" in only_error(done, 2)
    only_error(tune("merge", "whole1.trials", "whole2.trials"), 2)
