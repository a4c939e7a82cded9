"""The checkout, the built programs, and all else that several tests share."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command_errors import run_command

pytest_plugins = [
    *("bench_command", "generate_command", "prove_command", "recorded_programs"),
    *("report_samples", "tune_checkout"),
]

REPOSITORY = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("ASTEROPE_BUILD_DIR", REPOSITORY / "build")).resolve()
CPUS = sorted(os.sched_getaffinity(0))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run what is marked slow, and that alone")
    parser.addoption("--trials", type=int, default=4, help="made-up ones (test_prove_trial_sure)")


def pytest_configure() -> None:
    """Programs that a shell starts in the background ignore interrupts, and so would the programs
    that tests interrupt. Buffers beyond the last cache take seconds to fill, and tests do not
    need them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    most = resource.getrlimit(resource.RLIMIT_RSS)[1]
    resource.setrlimit(resource.RLIMIT_RSS, (400 << 20, most))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests run where --slow asks for them, or where one of them is named."""
    if any("::" in argument for argument in config.args):
        return
    wanted = config.getoption("--slow")
    others = [item for item in items if bool(item.get_closest_marker("slow")) != wanted]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if bool(item.get_closest_marker("slow")) == wanted]
    # The longest tests come first, then the files of most tests: they would be alone at the end.
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (not item.get_closest_marker("long"), -tests[item.path]))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Copies are timed on the last CPU; beside others (pytest -n) each worker has a CPU of its own
    for that."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:
        alone = item.get_closest_marker("one_cpu") and not item.get_closest_marker("all_cpus")
        here = CPUS[int(worker[len("gw") :]) % len(CPUS)]
        os.sched_setaffinity(0, [here] if alone else CPUS)


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """The CMake build; another one is named by the environment variable ASTEROPE_BUILD_DIR."""
    if not (BUILD / "asterope-tune").exists():
        pytest.fail(f"no asterope-tune in {BUILD}: build first, or set ASTEROPE_BUILD_DIR")
    return BUILD


@pytest.fixture
def tune(build_dir: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs asterope-tune in an empty folder."""
    return partial(run_command, build_dir / "asterope-tune", cwd=tmp_path)


@pytest.fixture
def bench(build_dir: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs asterope-bench in an empty folder."""
    return partial(run_command, build_dir / "asterope-bench", cwd=tmp_path)


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the C programs that check copies are compiled, once."""
    return tmp_path_factory.mktemp("objects")
