"""What the tests of all commands ask of an error: one line, in the program's name."""

from __future__ import annotations

import subprocess


def only_error_of(program: str, done: subprocess.CompletedProcess, code: int) -> str:
    """The one line on stderr that explains the exit code."""
    assert done.returncode == code, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done
    assert lines[0].startswith(f"{program}: ")
    assert lines[0].isprintable()
    return lines[0]
