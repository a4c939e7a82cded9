"""A file that a user names for a result: looked at before the work, written after it."""

from __future__ import annotations

import os
from pathlib import Path

from .atomic_file import write_files
from .faults import BadInput, Failure, one_line


def check_output(path: Path) -> None:
    """Raises BadInput where it is known beforehand that it cannot be written."""
    if path.is_dir():
        raise BadInput(f"{one_line(path)}: a folder: name a file")
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise BadInput(f"{one_line(path)}: {one_line(folder)} is no folder: choose another place")
    if not path.exists() and not os.access(folder, os.W_OK):
        raise BadInput(f"{one_line(path)}: may not be written there: choose another place")


def write_output(path: Path, content: str | bytes) -> None:
    """Raises Failure."""
    try:
        write_files(path.parent, {path.name: content})
    except OSError as error:
        raise Failure(f"{one_line(path)}: cannot write: {error.strerror}") from None
