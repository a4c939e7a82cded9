"""Libraries are compiled in folders that do not stay."""

from __future__ import annotations

import tempfile

import pytest
from asterope.faults import BadInput
from asterope.preload import compile_routine


def test_the_folder_of_a_compilation_that_was_killed_goes_with_the_next_one(tmp_path, monkeypatch):
    left = tmp_path / "asterope-preload-left"
    left.mkdir()
    (left / ".in-use").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert compile_routine({"routine.c": "int unused;\n"}).startswith(b"\x7fELF")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variable", ["CC", "CFLAGS"])
def test_a_variable_that_is_no_list_of_words_is_named(monkeypatch, variable):
    monkeypatch.setenv(variable, "'gcc -O2")
    with pytest.raises(BadInput, match=f"^{variable}: a quotation mark"):
        compile_routine({"routine.c": "int unused;\n"})
