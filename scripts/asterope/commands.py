"""The commands by name: purpose, program, and the module to run from Python."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from .command_line import run
from .faults import Failure, one_line

# Each command's description, and the module of its main(); None for a program that CMake builds.
COMMANDS = {
    "tune": ("finds the fastest memory copies of this machine", None),
    "generate": ("renders the memcpy of a profile as C", "generate"),
    "bench": ("times copies side by side with libc's", None),
    "record": ("records which copies a program makes, and what they cost", "record.command"),
    "report": ("shows what was measured, with pictures", "report.command"),
    "prove": (
        "tells whether the routine makes a program faster, where, and how sure that is",
        "prove.command",
    ),
    "placement": ("tells whether the place of arrays or -O matters", "placement.command"),
}


def run_command(name: str, arguments: Sequence[str] | None = None) -> int:
    """Runs asterope-NAME with `arguments` (default: this process's); returns its exit code."""
    program = f"asterope-{name}"
    arguments = sys.argv[1:] if arguments is None else arguments
    _, module = COMMANDS[name]
    if module is None:
        return run(program, lambda: _become(program, arguments))
    return run(program, lambda: importlib.import_module(f".{module}", __package__).main(arguments))


def _become(program: str, arguments: Sequence[str]) -> NoReturn:
    """The program takes the place of this process. Raises Failure."""
    path = _find(program)
    if path is None:
        raise Failure(f"is not installed beside {Path(__file__).parent} and not on the PATH")
    try:
        os.execv(path, [path, *arguments])
    except OSError as error:
        raise Failure(f"{one_line(path)}: cannot be run: {error.strerror}") from None


def _find(program: str) -> str | None:
    """The program of the installation which this package belongs to, else the one on the PATH."""
    package = Path(__file__).resolve().parent
    places = [package / "../../../../bin" / program]  # of PREFIX/share/asterope/python/asterope
    try:
        # pip knows the place of its scripts in any scheme
        files = importlib.metadata.files("asterope") or []
        places += [Path(file.locate()) for file in files if file.name == program]
    except importlib.metadata.PackageNotFoundError:
        pass
    for place in places:
        if os.access(place, os.X_OK) and place.is_file():
            return str(place.resolve())
    return shutil.which(program)
