"""The libraries that routines are judged by: the script that makes them refuses bad input."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_errors import only_error_of, run_command

SCRIPTS = {
    "newer-glibc": "newer-glibc FOLDER [SUITE]",
    "aocl-libmem": "aocl-libmem FOLDER CHECKOUT",
    "llvm-libc": "llvm-libc FOLDER CHECKOUT",
}
# The files that a checkout has at least, broken here.
CHECKOUTS = {
    "aocl-libmem": {
        "CMakeLists.txt": 'message(FATAL_ERROR "broken")\n',
        "src/libmem.c": "",
        "include/none": "",
        "tools/none": "",
    },
    "llvm-libc": {
        "libc/src/string/memory_utils/inline_memcpy.h": "",
        "libc/src/string/memcpy.cpp": "#error broken\n",
    },
}


def error(repository: Path, name: str, *arguments: object, code: int = 2) -> str:
    done = run_command(repository / "scripts/experiments" / name, *arguments)
    return only_error_of(name, done, code)


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_it_cannot_use_is_refused_in_one_line(repository, tmp_path, name):
    made = tmp_path / "made"
    for count in (0, 3):
        assert SCRIPTS[name] in error(repository, name, *[made] * count)
    if name in CHECKOUTS:
        assert "is no checkout" in error(repository, name, made, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", CHECKOUTS)
def test_a_checkout_that_does_not_build_is_told(repository, tmp_path, name):
    checkout = tmp_path / "checkout"
    for path, text in CHECKOUTS[name].items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_text(text)
    before = sorted(checkout.rglob("*"))
    told = error(repository, name, tmp_path / "made", checkout, code=1)
    assert "cannot be built: " in told
    assert sorted(checkout.rglob("*")) == before
    assert list((tmp_path / "made").iterdir()) == []
