"""The commands, the names in each --help, and a way to run them, for tests of packaging."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path

from asterope.commands import COMMANDS
from copy_programs import output_of

PROGRAMS = [f"asterope-{name}" for name in COMMANDS]


def help_of(program: Path, *command: str) -> str:
    return output_of(program, *command, "--help", env={**os.environ, "COLUMNS": "200"})


def options_in(text: str) -> set[str]:
    """Every option that a --help lists, by all of its names."""
    names: set[str] = set()
    for line in text.splitlines():
        if re.match(r" {1,4}-", line):
            head = re.split(r" {2,}", re.sub(r", +-", ", -", line.strip()))[0]  # but the text
            names.update(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", head))
    return names


def commands_in(text: str) -> list[str]:
    _, _, listed = re.sub("(?i)subcommands:", "\0", text).partition("\0")
    return re.findall(r"(?m)^  ([a-z]+) ", listed)


def install(build: Path, prefix: Path) -> Path:
    """Installs all that was built, one at a time, as that writes into the build folder, too."""
    with open(build / "install.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        output_of("cmake", "--install", build, "--prefix", prefix)
    return prefix


def install_by_script(script: Path, prefix: Path) -> str:
    settings = [f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LOCAL_ONLY=1"]
    return output_of("cmake", *settings, "-P", script)
