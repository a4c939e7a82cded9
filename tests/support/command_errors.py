"""What the tests of all commands ask of stderr: an error is one line, in the program's name."""

from __future__ import annotations

import re
import subprocess


def without_warnings(text: str) -> str:
    """What is on stderr but for warnings, which depend on how quiet the machine is."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not re.match(r"(asterope-\w+: )?warning: ", line))


def only_error_of(program: str, done: subprocess.CompletedProcess, code: int) -> str:
    """The one line on stderr that explains the exit code."""
    assert done.returncode == code, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done
    assert lines[0].startswith(f"{program}: ")
    assert lines[0].isprintable()
    return lines[0]
