"""What ends asterope-tune early: bad arguments, faults, signals, and a generator that fails."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import interrupted, run_command, tune_error
from trial_logs import log_lines_of

pytestmark = pytest.mark.one_cpu

HOT = ("--rigor", "quick", "--operations", "memcpy", "--workload", "hot", "--space", "paper")
QUICK = (*HOT, "--sizes", "128,1K")
ONE_SIZE = (*HOT, "--sizes", "128")
OLD = "an earlier profile"


# --- Faults while running: the profile that was there before stays --------------------------------


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """An earlier profile, alone in its folder."""
    path = tmp_path / "out" / "profile.json"
    path.parent.mkdir()
    path.write_text(OLD)
    return path


def assert_untouched(earlier: Path) -> None:
    assert earlier.read_text() == OLD
    assert list(earlier.parent.iterdir()) == [earlier]


def limit(what: int, value: int) -> Callable[[], None]:
    def apply() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() then says EFBIG
        resource.setrlimit(what, (value, value))

    return apply


FAULTS = {
    "no memory for the buffers": ([], limit(resource.RLIMIT_AS, 200 << 20), "no memory"),
    "a full disk": ([], limit(resource.RLIMIT_FSIZE, 1024), "profile.json"),
    "a full disk for the log": (["--log", "/dev/full"], None, "/dev/full"),
    # 3 times the last two is next to nothing, modulo 2^64.
    **{
        f"size {size}": (["--sizes", size], None, "no memory")
        for size in ("1024G", "6148914691236517206")
    },
}


@pytest.mark.parametrize(("arguments", "limited", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_ends_it_in_one_line_and_leaves_the_earlier_profile(
    tune, earlier: Path, arguments: list[str], limited: Callable[[], None] | None, said: str
) -> None:
    options = (*(HOT if "--sizes" in arguments else QUICK), "-o", earlier, *arguments)
    assert said in tune_error(tune(*options, preexec_fn=limited), 1)
    assert_untouched(earlier)


def test_a_disk_that_fills_up_keeps_what_was_timed(tune, earlier: Path) -> None:
    full = limit(resource.RLIMIT_FSIZE, 100_000)
    message = tune_error(tune(*QUICK, "-o", earlier, preexec_fn=full), 1)
    log = earlier.with_name("profile.json.trials")
    assert str(log) in message
    assert "--resume" in message
    assert earlier.read_text() == OLD
    assert log.stat().st_size == 100_000
    earlier.unlink()
    assert tune(*QUICK, "-o", earlier, "--resume").returncode == 0
    load_profile(earlier)


SLOW = pytest.mark.slow
MOMENTS = [
    ("SIGINT", "at the beginning"),
    ("SIGTERM", "during the search"),
    *(pytest.param("SIGHUP", moment, marks=SLOW) for moment in ("at the beginning", "later")),
]


@pytest.mark.parametrize(("name", "moment"), MOMENTS)
def test_a_signal_ends_cleanly(build_dir: Path, earlier: Path, name: str, moment: str) -> None:
    log = earlier.parent.parent / "trials.jsonl"

    def ready(process: subprocess.Popen) -> bool:
        # The first line on stdout comes before the verification, the second in the log is a trial.
        if moment == "at the beginning":
            return bool(process.stdout.readline())
        return log.exists() and log.read_bytes().count(b"\n") >= 2

    options = ("--rigor", "exhaustive", "-o", earlier, "--log", log)
    done = interrupted([build_dir / "asterope-tune", *options], ready, getattr(signal, name))
    assert tune_error(done, 130).startswith("asterope-tune: interrupted")
    assert_untouched(earlier)
    if moment != "at the beginning":  # what was timed until then stays readable
        assert log_lines_of(log.read_bytes())


# --- The generator --------------------------------------------------------------------------------


def put_generator(alone: Path, script: str) -> None:
    generator = alone.with_name("asterope-generate")
    generator.write_text(f"#!/bin/sh\n{script}\n")
    generator.chmod(0o755)


@pytest.fixture(scope="module")
def timed(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with asterope-tune alone, and the log of a run of it that was interrupted while its
    routine was rendered for the exam."""
    folder = tmp_path_factory.mktemp("timed")
    alone = Path(shutil.copy(build_dir / "asterope-tune", folder))
    put_generator(alone, "exit 130")
    run = run_command(alone, *ONE_SIZE, cwd=folder, env={**os.environ, "PATH": ""})
    assert "--resume goes on" in tune_error(run, 130)
    assert not (folder / "asterope-profile.json").exists()
    alone.with_name("asterope-generate").unlink()
    return folder


@pytest.fixture
def resume(timed: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Goes on where that run ended, so that little is left to be timed."""
    shutil.copytree(timed, tmp_path / "alone")
    program = tmp_path / "alone" / "asterope-tune"

    def run(path: object = "") -> subprocess.CompletedProcess:
        environment = {**os.environ, "PATH": str(path)}
        return run_command(program, *ONE_SIZE, "--resume", cwd=program.parent, env=environment)

    return run


def test_a_generator_on_the_path_is_found(resume, build_dir: Path, tmp_path: Path) -> None:
    assert resume(f"{build_dir}:{os.environ['PATH']}").returncode == 0
    left = {"asterope-tune", "asterope-profile.json", "asterope_memcpy.c", "asterope_memcpy.h"}
    assert {path.name for path in (tmp_path / "alone").iterdir()} == left


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("", 1, "asterope-generate"),
        ("exit 1", 1, "asterope-generate failed"),
        # The first time is for the exam, when there is no profile yet.
        ("[ -e asked ] && exit 130; : > asked; exit 1", 130, "interrupted; the profile is written"),
        (": > asterope_memcpy.c", 0, None),
    ],
)
def test_a_generator_that_is_missing_or_fails_leaves_the_profile(
    resume, tmp_path: Path, script: str, code: int, said: str | None
) -> None:
    if script:
        put_generator(tmp_path / "alone" / "asterope-tune", script)
    done = resume()
    if said:
        message = tune_error(done, code)
        assert said in message and "profile" in message
    assert done.returncode == code
    load_profile(tmp_path / "alone" / "asterope-profile.json")
