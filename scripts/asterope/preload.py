"""Compiles the library for LD_PRELOAD: the routine under libc's names."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .faults import BadInput, Failure, one_line
from .render import template_folder
from .scratch_folder import scratch_folder

_TABLE = "asterope_places.h"
_PLACES = f'-DASTEROPE_PLACES="{_TABLE}"'
_COMPILERS = ("cc", "gcc", "clang")


def compile_preload(texts: Mapping[str, str], table: str | None) -> bytes:
    """`texts`: those of the routine, by their files' names. `table`: of a map of places, as C. By
    the compiler that CC names, with the options in CFLAGS. Raises Failure and OSError."""
    if table is None:
        return _library(texts, template_folder() / "preload.c")
    return _library({**texts, _TABLE: table}, template_folder() / "preload.c", _PLACES)


def compile_routine(texts: Mapping[str, str]) -> bytes:
    """The same under its own names."""
    return _library(texts, Path(next(name for name in texts if name.endswith(".c"))))


def _library(texts: Mapping[str, str], source: Path, *more: str) -> bytes:
    """`source`: one of the texts, or another file."""
    with scratch_folder("asterope-preload-", Path(tempfile.gettempdir())) as folder:
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        library = folder / "library.so"
        flags = ["-O2", *_words_of("CFLAGS")]
        own = ["-fno-builtin", "-fPIC", "-shared", "-I", str(folder), *more, str(folder / source)]
        _compile([*find_compiler(), *flags, *own, "-o", str(library)])
        return library.read_bytes()


def _words_of(variable: str) -> list[str]:
    try:
        return shlex.split(os.environ.get(variable, ""))
    except ValueError:
        raise BadInput(f"{variable}: a quotation mark has no second one") from None


def find_compiler() -> list[str]:
    """The words that start it. Raises BadInput and Failure."""
    named = _words_of("CC")
    found = named or [name for name in _COMPILERS if shutil.which(name)][:1]
    if not found or not shutil.which(found[0]):
        what = f"CC: {one_line(found[0])[:80]}: no such command" if found else "there is none"
        raise Failure(f"the library needs a C compiler: {what}: install gcc, or name one in CC")
    return found


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = done.stderr.splitlines()
        errors = [line for line in lines if re.search(r"\berror\b", line)] or lines or ["no reason"]
        said = one_line(errors[0])[:300]
        raise Failure(f"{one_line(command[0])} did not compile the library: {said}")
