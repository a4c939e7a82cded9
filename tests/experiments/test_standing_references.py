"""The libraries that routines are judged by: what makes them refuses what it cannot use."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_errors import only_error_of, run_command

SCRIPTS = {
    "newer-glibc": "newer-glibc FOLDER [SUITE]",
    "aocl-libmem": "aocl-libmem FOLDER CHECKOUT",
}


def error(repository: Path, name: str, *arguments: object, code: int = 2) -> str:
    done = run_command(repository / "scripts/experiments" / name, *arguments)
    return only_error_of(name, done, code)


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("count", [0, 3])
def test_other_arguments_are_refused_in_one_line(repository, tmp_path, name, count):
    arguments = [tmp_path / "made"] * count
    assert SCRIPTS[name] in error(repository, name, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_checkout_is_refused(repository, tmp_path):
    assert "is no checkout" in error(repository, "aocl-libmem", tmp_path / "made", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_checkout_that_does_not_build_is_told(repository, tmp_path):
    checkout = tmp_path / "checkout"
    for part in ("src", "include", "tools"):
        (checkout / part).mkdir(parents=True)
    (checkout / "src/libmem.c").touch()
    (checkout / "CMakeLists.txt").write_text('message(FATAL_ERROR "broken")\n')
    before = sorted(checkout.rglob("*"))
    told = error(repository, "aocl-libmem", tmp_path / "made", checkout, code=1)
    assert "cannot be built: " in told
    assert sorted(checkout.rglob("*")) == before
    assert list((tmp_path / "made").iterdir()) == []
