"""The copies that are compared: libc, also with tunables, and preloaded libraries."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..faults import BadInput, one_line
from ..preload_link import preloadable
from .programs import to_build


def again(name: str) -> str:
    """What others are compared with runs twice: what it differs by from itself is noise."""
    return f"{name} again"


LIBC, OTHER, PROGRAM = "libc", "other", "program"
LIBC_AGAIN = again(LIBC)
MOST_COPIES = 16
_TUNABLES = "GLIBC_TUNABLES="


@dataclass(frozen=True)
class Copy:
    """`library`: what is preloaded. `tunables`: what GLIBC_TUNABLES says to libc. `command`: of a
    build of its own; None: all have the same."""

    name: str
    library: Path | None = None
    tunables: str | None = None
    command: tuple[str, ...] | None = None

    @property
    def description(self) -> str:
        """What it is, for people."""
        if self.command is not None:
            return shlex.join(self.command)
        if self.tunables is not None:
            return f"libc with {_TUNABLES}{self.tunables}"
        return f"{self.library}, preloaded" if self.library else "libc"

    def environment(self) -> dict[str, str]:
        """This process's, less any LD_PRELOAD: it would be in libc's runs, too."""
        variables = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        if self.library:
            variables["LD_PRELOAD"] = str(self.library)
        if self.tunables is not None:
            variables["GLIBC_TUNABLES"] = self.tunables
        return variables


def parse_copies(texts: Iterable[str]) -> list[Copy]:
    """libc twice, whether it is among `texts` or not, then the others. Raises BadInput."""
    copies = {name: Copy(name) for name in (LIBC, LIBC_AGAIN)}
    for text in texts:
        if text == LIBC:
            continue
        copy = _copy(text)
        if copy.name in copies:
            raise BadInput(
                f"--copies: {one_line(text)}: another copy is called {copy.name}: give it a name, "
                f"as in NAME={one_line(text.partition('=')[2] or text)}"
            )
        copies[copy.name] = copy
    if len(copies) == 2:
        raise BadInput("--copies names nothing to compare libc with: name a library")
    if len(copies) > MOST_COPIES:
        raise BadInput(f"--copies: more than {MOST_COPIES - 2} copies beside libc")
    return list(copies.values())


def two_builds(text: str, command: Sequence[str]) -> list[Copy]:
    """The other one twice, then this command. `text`: a program, which takes the same arguments, or
    a whole command as the shell has it. Raises BadInput."""
    try:
        words = [text] if os.path.isfile(text) else shlex.split(text)
    except ValueError as error:
        raise BadInput(f"--against: {one_line(error)}") from None
    if not words:
        raise BadInput("--against names no program")
    other = tuple(words) if len(words) > 1 else (*words, *command[1:])
    for name, first in (("--against: ", other[0]), ("", command[0])):
        if shutil.which(first) is None:
            raise BadInput(f"{name}{one_line(first)}: no such command")
    named = {OTHER: other, again(OTHER): other, PROGRAM: tuple(command)}
    return [Copy(name, command=own) for name, own in named.items()]


def _copy(text: str) -> Copy:
    name, equals, file = text.partition("=")
    if not equals or "/" in name:
        name, file = Path(text).name.removeprefix("lib").partition(".so")[0], text
    if not re.fullmatch(r"[\w.+ -]{1,40}", name):
        raise BadInput(
            f"--copies: {one_line(text)[:80]}: write a shared object, or NAME=FILE with a name of "
            "letters, digits and . + - _"
        )
    if file.startswith(_TUNABLES):
        return Copy(name, tunables=file[len(_TUNABLES) :])
    return Copy(name, library=_library(file))


def _library(path: str) -> Path:
    library = Path(path)
    if not library.is_file():
        raise BadInput(
            f"{one_line(path)}: no such library: build it with {to_build(library)}, or name one "
            "with --copies"
        )
    resolved = preloadable(library.resolve())
    # ld.so only warns of what it cannot load, and goes on without it
    probe = subprocess.run(
        ["/bin/true"], env={"LD_PRELOAD": str(resolved)}, capture_output=True, text=True, timeout=60
    )
    if probe.returncode or probe.stderr:
        said = (probe.stderr.strip().splitlines() or ["/bin/true fails with it"])[0]
        raise BadInput(f"{one_line(path)}: cannot be preloaded: {one_line(said)}")
    return resolved


def missing_library(copy: Copy, loaded: Sequence[str]) -> str | None:
    """Why a process with these libraries does not run under the copy; None: it does."""
    wanted = copy.library
    if wanted is None or any(os.path.realpath(one) == os.path.realpath(wanted) for one in loaded):
        return None
    return (
        f"runs without {wanted.name}: its environment was cleared, or it is linked statically or "
        "privileged"
    )


def check_tunables(copies: Iterable[Copy], loader: Path) -> None:
    """Refuses settings that the loader would ignore, which it does without a word, where it can
    list what it knows (glibc 2.33). Raises BadInput."""

    def listed(copy: Copy) -> tuple[int, str]:
        done = subprocess.run(
            [loader, "--list-tunables"],
            env=copy.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout

    for copy in copies:
        if copy.tunables is not None and listed(copy) == (0, listed(Copy(LIBC))[1]):
            raise BadInput(
                f"--copies: {_TUNABLES}{one_line(copy.tunables)[:200]}: changes nothing: libc "
                "knows none of it, or has these values already"
            )
