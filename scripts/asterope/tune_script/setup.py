"""Runs programs, and the functions of scripts/setup.sh, which install and build."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..interrupt import run_in_foreground

_CALL = 'source "$1/scripts/setup.sh"; "${@:2}"'


def _command(root: Path, words: tuple[str, ...]) -> list[str]:
    # The word behind the script is its name, under which setup.sh reports errors.
    return ["bash", "-euo", "pipefail", "-c", _CALL, "tune", str(root), *words]


def require_success(command: Sequence[str | Path]) -> None:
    """Runs a program. If it fails, it has said why, and its exit code ends this one."""
    code = run_in_foreground([str(word) for word in command])
    if code:
        raise SystemExit(code)


def call(root: Path, *words: str) -> None:
    """Calls a function, as require_success() does a program."""
    require_success(_command(root, words))


def lines_of(root: Path, *words: str) -> list[str]:
    """The lines that a function prints."""
    done = subprocess.run(_command(root, words), check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()
