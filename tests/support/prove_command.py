"""asterope-prove on programs that say what they are to have taken: nothing depends on the clock."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command_errors import only_error_of
from copy_programs import shared_library

REGEX = r"took ([0-9.]+)"
# What the fake programs take under libc and under the libraries, by the libraries' names.
TOOK = 'case "$LD_PRELOAD" in *fast*) t=50;; *slow*) t=120;; *) t=100;; esac; '
SAY = f"{TOOK} echo first took 7; echo took $t.000"

only_error = partial(only_error_of, "asterope-prove")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of libraries that change nothing: what is tested here is not the routine."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("fast", "slow", "like"):
        shared_library(folder / f"{name}.so", "int unused;\n")
    return folder


@pytest.fixture
def command(repository: Path, libraries: Path, tmp_path: Path) -> Callable[..., dict]:
    """What Popen and run need to start asterope-prove in an empty folder. Copies are named without
    their folder."""

    def settings(*arguments: object, copies: str = "fast", **environment: str) -> dict:
        (tmp_path / "tmp").mkdir(exist_ok=True)
        named = ",".join(f"{libraries}/{name}.so" for name in copies.split(",") if name)
        return {
            "args": [sys.executable, "-m", "asterope", "prove"]
            + (["--copies", named] if named else ["--runs"])
            + [str(part) for part in arguments],
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
def prove(command, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs it to its end; it leaves nothing behind."""

    def run(*arguments: object, **settings: str) -> subprocess.CompletedProcess:
        done = subprocess.run(**command(*arguments, **settings), timeout=300)
        assert list((tmp_path / "tmp").iterdir()) == []
        return done

    return run


def rows_of(done: subprocess.CompletedProcess) -> dict[str, str]:
    """The table: name -> what follows it."""
    _, _, table = done.stdout.partition("\n\n")
    rows = (re.split(r" {2,}", line, maxsplit=1) for line in table.splitlines()[1:])
    return {row[0]: row[1] for row in rows if len(row) == 2}
