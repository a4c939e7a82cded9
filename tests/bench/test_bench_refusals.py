"""What asterope-bench does where it is interrupted, refuses something or has no library."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from bench_command import FEW, HOT, only_error, peer
from command_errors import interrupted, run_command

pytestmark = pytest.mark.one_cpu


# --- Interrupted ----------------------------------------------------------------------------------


def assert_interrupted(build_dir: Path, folder: Path, ready: Callable, *arguments: object) -> None:
    done = interrupted([build_dir / "asterope-bench", *arguments], ready, cwd=folder)
    assert (done.returncode, done.stderr) == (130, "asterope-bench: interrupted\n")


def test_an_interrupted_run_keeps_what_was_measured(build_dir, shipped, tmp_path):
    def ready(running: subprocess.Popen) -> None:
        next(line for line in running.stdout if line.startswith("128 B "))

    long = ("--suite", "hot", "--rounds", "5000", "--sizes", "128,32M")
    options = ("--routine", shipped, *long, "--json", "report.json")
    assert_interrupted(build_dir, tmp_path, ready, *options)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["complete"] is False
    assert [row["label"] for row in report["results"]] == ["128 B"]


def test_a_run_can_be_interrupted_while_peers_are_checked(build_dir, shipped, peers, tmp_path):
    hangs = (tmp_path / "hanging").exists
    options = ("--routine", shipped, *peer(peers, "hangs"))
    assert_interrupted(build_dir, tmp_path, lambda _: hangs(), *options)


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["missing", "damaged", "pipe"])
def test_a_bad_library_is_refused_in_one_line(bench, tmp_path, kind):
    path = tmp_path / "libroutine.so"
    if kind == "damaged":
        path.write_bytes(b"\x7fELF\x02\x01\x01")
    elif kind == "pipe":
        os.mkfifo(path)
    message = only_error(bench("--routine", path, *FEW), 2)
    assert str(path) in message and ("is no regular file" in message) == (kind == "pipe")


def test_without_memory_for_the_buffers_it_fails(bench, shipped):
    little = partial(resource.setrlimit, resource.RLIMIT_AS, (200 << 20, 200 << 20))
    done = bench("--routine", shipped, "--sizes", "4K", preexec_fn=little)
    assert "no memory" in only_error(done, 1)


# --- Without a library ----------------------------------------------------------------------------


@pytest.fixture
def installed(build_dir: Path, repository: Path, tmp_path: Path):
    """asterope-bench away from any build folder, asterope-generate beside it, HOME empty; runs it.
    What it makes meanwhile goes into the folder `temporary`."""
    for name in ("bin", "work", "temporary"):
        (tmp_path / name).mkdir()
    for name in ("asterope-bench", "asterope-generate"):
        shutil.copy(build_dir / name, tmp_path / "bin")

    def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path / "temporary")}
        environment.pop("XDG_CONFIG_HOME", None)
        settings = {"cwd": tmp_path / "work", "env": {**environment, **variables}}
        done = run_command(tmp_path / "bin" / "asterope-bench", *HOT, *arguments, **settings)
        assert list((tmp_path / "work").iterdir()) == []
        assert list((tmp_path / "temporary").iterdir()) == []  # whatever happened
        return done

    run.profile = tmp_path / ".config" / "asterope" / "profile.json"
    run.profile.parent.mkdir(parents=True)
    shutil.copy(repository / "generated" / "reference" / "xeon-gold-5218.json", run.profile)
    return run


def test_without_a_library_the_routine_is_built_from_a_profile(installed, tmp_path):
    done = installed("--peer", "asterope_mt", CC="env cc -g0")
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {installed.profile}\n")
    assert done.stdout.startswith("asterope_memcpy against ")
    named = installed.profile.rename(tmp_path / "named.json")
    done = installed("--profile", named)
    assert (done.returncode, done.stderr) == (0, f"the routine is built from {named}\n")


def test_without_a_library_and_a_profile_it_says_what_to_do(installed):
    installed.profile.unlink()
    message = only_error(installed(), 2)
    for words in ("build/libasterope_memcpy.so", str(installed.profile), "--routine"):
        assert words in message


@pytest.mark.parametrize(("compiler", "what"), [("/none/cc", "is not there"), ("false", "fails")])
def test_without_a_compiler_it_says_so_in_one_line(installed, compiler, what):
    message = only_error(installed(CC=compiler), 1)
    assert what in message
    assert "install a C compiler" in message and "--routine" in message
