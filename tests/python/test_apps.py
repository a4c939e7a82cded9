"""The command asterope-apps: its comparison, its programs, its exit codes and one-line errors."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from asterope import __version__
from asterope.apps.paired import LIBC, LIBC_AGAIN, OURS, Comparison, compare
from asterope.profile import Ratio
from command_errors import only_error_of, run_command
from copy_programs import shared_library

pytestmark = pytest.mark.slow

needs_redis = pytest.mark.skipif(
    not (shutil.which("redis-server") and shutil.which("redis-benchmark")),
    reason="redis is not installed",
)
needs_sqlite = pytest.mark.skipif(not shutil.which("sqlite3"), reason="sqlite3 is not installed")
ROW = r" +\d+\.\d +\d+\.\d +\d+\.\d\d  \(\d+\.\d\d\.\.\d+\.\d\d\)  \(\d+\.\d\d\.\.\d+\.\d\d\)  \w"


# --- The comparison -------------------------------------------------------------------------------


def test_all_sides_run_in_every_round_and_the_first_is_not_counted() -> None:
    ran: list[tuple[str, int]] = []

    def seconds(key: str, side: int) -> float:
        ran.append((key, side))
        return 1000.0 if len(ran) <= 6 else 1.0

    results = compare(["get", "set"], 4, seconds)
    assert set(Counter(ran).values()) == {5}
    assert len(Counter(ran)) == 6
    for begin in range(0, len(ran), 3):  # one thing at a time, on all sides
        assert len({key for key, _ in ran[begin : begin + 3]}) == 1
    assert len({tuple(side for _, side in ran[i : i + 3]) for i in range(0, len(ran), 3)}) > 1
    assert results["get"].libc == pytest.approx(1)


def test_only_times_of_one_round_are_compared() -> None:
    """Each round is twice as slow as the last one; the ratios stay."""
    calls = Counter()

    def seconds(_: str, side: int) -> float:
        calls[side] += 1
        return 2.0 ** calls[side] * {LIBC: 1.0, OURS: 0.8, LIBC_AGAIN: 1.1}[side]

    result = compare(["it"], 9, seconds)["it"]
    for ratio, truth in ((result.ratio, 1 / 0.8), (result.floor, 1 / 1.1)):
        assert (ratio.low, ratio.median, ratio.high) == pytest.approx((truth,) * 3)
    assert result.ours / result.libc == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("ratio", "floor", "verdict"),
    [
        ((1.10, 1.05, 1.20), (1.00, 0.98, 1.02), "faster"),
        ((0.90, 0.85, 0.95), (1.00, 0.98, 1.02), "slower"),
        ((1.01, 1.00, 1.02), (1.00, 0.98, 1.02), "nil: inside the floor"),
        ((1.10, 1.01, 1.20), (1.00, 0.98, 1.02), "nil: inside the floor"),
        ((0.90, 0.85, 0.99), (1.00, 0.98, 1.02), "nil: inside the floor"),
        # a floor that is off 1 excuses nobody from being on the right side of it
        ((0.97, 0.96, 0.99), (0.94, 0.93, 0.95), "nil: inside the floor"),
        ((1.02, 1.01, 1.03), (1.06, 1.05, 1.07), "nil: inside the floor"),
    ],
)
def test_a_verdict_is_beyond_the_noise(ratio: tuple, floor: tuple, verdict: str) -> None:
    assert Comparison(1, 1, Ratio(*ratio), Ratio(*floor)).verdict == verdict


# --- The command ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that changes nothing: what is tested here is not the routine."""
    return shared_library(tmp_path_factory.mktemp("library") / "libpreload.so", "int unused;\n")


@pytest.fixture
def command(repository: Path, tmp_path: Path) -> Callable[..., dict]:
    """What Popen and run need to start asterope-apps in an empty folder."""

    def settings(*arguments: object, **environment: str) -> dict:
        (tmp_path / "tmp").mkdir(exist_ok=True)
        return {
            "args": [sys.executable, "-m", "asterope.apps", *(str(part) for part in arguments)],
            "env": {
                **os.environ,
                "PYTHONPATH": str(repository / "scripts"),
                "TMPDIR": str(tmp_path / "tmp"),
                **environment,
            },
            "cwd": tmp_path,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }

    return settings


@pytest.fixture
def apps(command, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess:
        done = subprocess.run(**command(*arguments, **environment), timeout=300)
        assert list((tmp_path / "tmp").iterdir()) == []
        return done

    return run


only_error = partial(only_error_of, "asterope-apps")


def labels_in(done: subprocess.CompletedProcess) -> list[str]:
    assert (done.returncode, done.stderr) == (0, ""), done
    rows = [line for line in done.stdout.splitlines() if re.search(ROW, line)]
    return [row[:14].rstrip() for row in rows]


REDIS = [f"{test} {size}" for size in ("64 KiB", "256 KiB", "1 MiB") for test in ("SET", "GET")]
SQLITE = ["INSERT 64 KiB", "INSERT 1 MiB", "SELECT 64 KiB", "SELECT 1 MiB", "INSERT 100 B"]


@pytest.mark.parametrize(
    ("application", "unit", "labels"),
    [
        pytest.param("redis", "a request", REDIS, marks=needs_redis),
        pytest.param("sqlite", "a blob or row", SQLITE, marks=needs_sqlite),
    ],
)
def test_an_application_is_timed(
    apps, library: Path, application: str, unit: str, labels: list[str]
) -> None:
    done = apps(application, "--rounds", "3", "--preload", library)
    assert labels_in(done) == labels
    lines = done.stdout.splitlines()
    assert str(library) in lines[0]
    assert f"us are for {unit}; 3 paired rounds" in lines[3]
    assert re.fullmatch(r"all +\d+\.\d\d  geometric mean", lines[-1])


def test_what_is_missing_is_named(apps, library: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    message = only_error(apps("redis", "--preload", library, PATH=str(tmp_path / "bin")), 1)
    assert "redis-server is not installed: apt-get install redis-server" in message
    done = apps("all", "--preload", library, PATH=str(tmp_path / "bin"))
    assert (done.returncode, done.stdout) == (1, "")
    assert [line.split()[1] for line in done.stderr.splitlines()] == ["redis:", "sqlite:"]


@needs_sqlite
def test_all_goes_on_without_what_is_missing(apps, library: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sqlite3").symlink_to(shutil.which("sqlite3"))
    done = apps("all", "--rounds", "3", "--preload", library, PATH=str(tmp_path / "bin"))
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "asterope-apps: redis: redis-server is not installed: apt-get install redis-server"
    ]
    assert "SELECT 1 MiB" in done.stdout


CRASH_IN = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void crash(void)
{
    if (strcmp(program_invocation_short_name, "PROGRAM") == 0) abort();
}
"""


@pytest.mark.parametrize(
    ("application", "program"),
    [
        pytest.param("redis", "redis-server", marks=needs_redis),
        pytest.param("sqlite", "sqlite3", marks=needs_sqlite),
    ],
)
def test_a_program_that_dies_of_the_library_is_named(
    apps, tmp_path: Path, application: str, program: str
) -> None:
    library = shared_library(tmp_path / "libcrash.so", CRASH_IN.replace("PROGRAM", program))
    message = only_error(apps(application, "--preload", library), 1)
    assert f"{program} was ended by SIGABRT (with the library)" in message


def processes_in(folder: Path) -> dict[int, str]:
    """Those whose working folder is in there, by name."""
    found = {}
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and folder in Path(os.readlink(process / "cwd")).parents:
                found[int(process.name)] = (process / "comm").read_text().strip()
        except OSError:
            continue  # gone meanwhile, or not ours
    return found


@pytest.fixture(
    params=[
        pytest.param(("redis", "redis-server"), marks=needs_redis, id="redis"),
        pytest.param(("sqlite", "sqlite3"), marks=needs_sqlite, id="sqlite"),
    ]
)
def endless(request, command, library: Path, tmp_path: Path):
    """The command with more rounds than anybody waits for, and one of its three programs."""
    application, program = request.param
    process = subprocess.Popen(**command(application, "--rounds", "10000", "--preload", library))
    try:
        for _ in range(3000):  # for how long to wait, not for what comes out
            running = [p for p, name in processes_in(tmp_path / "tmp").items() if name == program]
            if len(running) == 3 and process.poll() is None:
                break
            time.sleep(0.02)
        yield process, running[0], program
    finally:
        process.kill()
        process.communicate()


def test_a_program_that_is_killed_is_noticed(endless, tmp_path: Path) -> None:
    process, victim, program = endless
    os.kill(victim, signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert len(said.splitlines()) == 1
    assert f"{program} was ended by SIGKILL" in said
    assert processes_in(tmp_path / "tmp") == {}
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything(endless, how: signal.Signals, tmp_path: Path) -> None:
    process, _, _ = endless
    process.send_signal(how)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (130, "asterope-apps: interrupted\n")
    assert processes_in(tmp_path / "tmp") == {}
    assert list((tmp_path / "tmp").iterdir()) == []


BAD = {
    "no application": ([], "APPLICATION"),
    "unknown application": (["mysql"], "mysql"),
    "unknown option": (["redis", "--bogus"], "--bogus"),
    "two rounds": (["redis", "--rounds", "2"], "rounds are 3 to 10000"),
    "rounds that are no number": (["redis", "--rounds", "many"], "rounds are 3 to 10000"),
    "CPU that is not there": (["redis", "--cpu", "9999"], "--cpu 9999"),
    "CPU below 0": (["redis", "--cpu", "-1"], "--cpu -1"),
    "library that is missing": (["redis", "--preload", "missing.so"], "missing.so"),
    "library that is a folder": (["redis", "--preload", "."], "no such library"),
    "library that is none": (["redis", "--preload", "{text}"], "cannot be preloaded"),
    "library with a blank": (["redis", "--preload", "{blank}"], "no path with a blank"),
}


@pytest.mark.parametrize(("arguments", "part"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_refused_in_one_line(
    apps, library: Path, tmp_path: Path, arguments: Sequence[str], part: str
) -> None:
    files = {"text": tmp_path / "text.so", "blank": tmp_path / "a blank.so"}
    files["text"].write_text("no library\n")
    shutil.copy(library, files["blank"])
    given = [argument.format(**files) for argument in arguments]
    if "--preload" not in given:
        given += ["--preload", str(library)]
    message = only_error(apps(*given), 2)
    assert part in message
    assert len(message) < 300


def test_version_and_help(apps, build_dir: Path) -> None:
    assert apps("--version").stdout == f"asterope-apps {__version__}\n"
    launcher = run_command(build_dir / "asterope-apps", "--version")  # of a checkout
    assert launcher.stdout == f"asterope-apps {__version__}\n"
    done = apps("--help")
    assert done.returncode == 0
    assert "--preload" in done.stdout
