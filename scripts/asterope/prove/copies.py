"""The copies that are compared: libc, also with tunables, and preloaded libraries."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..faults import BadInput, one_line
from ..preload_link import preloadable, preloading
from .programs import to_build


def again(name: str) -> str:
    """The second name of the base, which runs twice: a difference between the two is noise."""
    return f"{name} again"


LIBC, OTHER, PROGRAM = "libc", "other", "program"
LIBC_AGAIN = again(LIBC)
MOST_COPIES = 16
TUNABLES, _PRELOAD = "GLIBC_TUNABLES", "LD_PRELOAD"
_TUNABLES = f"{TUNABLES}="
# Bytes: glibc gives larger blocks back at once, and free memory at the heap's end beyond that.
_KEPT = 1 << 30
# Blocks lie in huge pages, where 512 faults become one. Or freed blocks are kept: their pages have
# been touched, and cost no further fault.
_OFFERS = {
    "hugetlb": "glibc.malloc.hugetlb=1",
    "keep": f"glibc.malloc.mmap_threshold={_KEPT}:glibc.malloc.trim_threshold={_KEPT}",
}
# With this variable of 1, a preload library that knows it prepares the pages of its destinations.
_FRESH = "ASTEROPE_FRESH"


@dataclass(frozen=True)
class Copy:
    """`library` is preloaded. `settings` are other environment variables. `command` runs a build of
    its own; None: all copies have the same. `is_offer`: --tunables has added it."""

    name: str
    library: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] | None = None
    is_offer: bool = False

    @property
    def description(self) -> str:
        """Its description for people."""
        if self.command is not None:
            return shlex.join(self.command)
        what = f"{self.library}, preloaded" if self.library else "libc"
        settings = " ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{what}{',' if self.library else ''} with {settings}" if settings else what

    def environment(self) -> dict[str, str]:
        """This process's environment, with the copy's variables. It leaves out an LD_PRELOAD of the
        user's, which would be in libc's runs, too."""
        variables = {name: value for name, value in os.environ.items() if name != _PRELOAD}
        if self.library:
            variables[_PRELOAD] = str(self.library)
        return {**variables, **self.settings}

    def line(self, command: Sequence[str]) -> str:
        """The command line that runs a command with this copy."""
        words = one_line(shlex.join(command))
        quoted = {name: shlex.quote(one_line(value)) for name, value in self.settings.items()}
        settings = "".join(f"{name}={value} " for name, value in quoted.items())
        if self.library is None:
            return f"{settings}{words}"
        # resolved: it may be a link that stands for a path that LD_PRELOAD does not take
        return preloading(self.library.resolve(), words, settings)


def parse_copies(texts: Iterable[str], may_be_libc: bool) -> list[Copy]:
    """Returns libc twice, even if it is not among `texts`, then the others. `may_be_libc`: libc
    alone is allowed. Raises BadInput."""
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
    if len(copies) == 2 and not may_be_libc:
        raise BadInput("--copies names nothing to compare libc with: name a library")
    check_count(len(copies))
    return list(copies.values())


def check_count(copies: int) -> None:
    """Raises BadInput."""
    if copies > MOST_COPIES:
        raise BadInput(f"--copies: more than {MOST_COPIES - 2} copies beside libc")


def two_builds(text: str, command: Sequence[str]) -> list[Copy]:
    """Returns the other build twice, then this command. `text` is a program, which gets the same
    arguments, or a whole command in the shell's words. Raises BadInput."""
    words = [text] if os.path.isfile(text) else shell_words("--against", text)
    other = tuple(words) if len(words) > 1 else (*words, *command[1:])
    check_command("--against: ", other[0])
    check_command("", command[0])
    named = {OTHER: other, again(OTHER): other, PROGRAM: tuple(command)}
    return [Copy(name, command=own) for name, own in named.items()]


def shell_words(option: str, text: str) -> list[str]:
    """The words of an option's command, as a shell splits it. Raises BadInput."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"{option}: {one_line(error)}") from None
    if not words:
        raise BadInput(f"{option} names no command")
    return words


def check_command(option: str, command: str) -> None:
    """Raises BadInput. `option`: the words before the error."""
    if shutil.which(command) is None:
        raise BadInput(f"{option}{one_line(command)}: no such command")


def _copy(text: str) -> Copy:
    name, equals, file = text.partition("=")
    if not equals or "/" in name:
        name, file = Path(text).name.partition(".so")[0], text
        name = name.removeprefix("lib") or name
    if not re.fullmatch(r"[\w.+ -]{1,40}", name):
        raise BadInput(
            f"--copies: {one_line(text)[:80]}: write a shared object, or NAME=FILE with a name of "
            "letters, digits and . + - _"
        )
    if file.startswith(_TUNABLES):
        return Copy(name, settings={TUNABLES: file[len(_TUNABLES) :]})
    return Copy(name, library=_library(file))


def _library(path: str) -> Path:
    library = Path(path)
    if not library.is_file():
        raise BadInput(
            f"{one_line(path)}: no such library: build it with {to_build(library)}, or name one "
            "with --copies"
        )
    resolved = preloadable(library.resolve())
    # ld.so only warns of a library that it cannot load, and goes on without it
    probe = subprocess.run(
        ["/bin/true"], env={"LD_PRELOAD": str(resolved)}, capture_output=True, text=True, timeout=60
    )
    if probe.returncode or probe.stderr:
        said = (probe.stderr.strip().splitlines() or ["/bin/true fails with it"])[0]
        raise BadInput(f"{one_line(path)}: cannot be preloaded: {one_line(said)}")
    return resolved


def missing_library(copy: Copy, loaded: Sequence[str]) -> str | None:
    """Says why a process with these libraries does not run under the copy; None: it does."""
    wanted = copy.library
    if wanted is None or any(os.path.realpath(one) == os.path.realpath(wanted) for one in loaded):
        return None
    return (
        f"runs without {wanted.name}: its environment was cleared, or it is linked statically or "
        "privileged"
    )


def are_known(copy: Copy, loader: Path) -> bool:
    """Whether its tunables change anything: the loader ignores unknown ones without a word. If it
    cannot list them (before glibc 2.33), they count as known."""

    def listed(one: Copy) -> tuple[int, str]:
        words, env = [loader, "--list-tunables"], one.environment()
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    return listed(copy) != (0, listed(Copy(LIBC))[1])


def check_tunables(copies: Iterable[Copy], loader: Path) -> None:
    """Raises BadInput where some change nothing."""
    for copy in copies:
        tunables = copy.settings.get(TUNABLES)
        if tunables is not None and not are_known(copy, loader):
            raise BadInput(
                f"--copies: {_TUNABLES}{one_line(tunables)[:200]}: changes nothing: libc "
                "knows none of it, or has these values already"
            )


def with_offers(copies: Sequence[Copy], loader: Path) -> tuple[list[Copy], list[str]]:
    """Returns these and the added ones, and a line for each setting that changes nothing. The
    program's own GLIBC_TUNABLES stay: of two values libc takes the last. Raises BadInput."""
    own = os.environ.get(TUNABLES)
    libraries = [copy for copy in copies if copy.library is not None]
    added, lines = [], []
    for name, setting in _OFFERS.items():
        tunables = {TUNABLES: f"{own}:{setting}" if own else setting}
        offer = Copy(name, None, tunables, is_offer=True)
        if not are_known(offer, loader):
            lines.append(f"{name} is left out: libc does not know {setting}, or has it already.")
            continue
        with_it = [replace(offer, name=f"{c.name}+{name}", library=c.library) for c in libraries]
        added += [offer, *with_it]
    added += [
        Copy(f"{one.name}+fresh", one.library, {_FRESH: "1"}, is_offer=True)
        for one in libraries
        if one.library is not None and _FRESH.encode() in one.library.read_bytes()
    ]
    taken = {copy.name for copy in copies} & {copy.name for copy in added}
    if taken:
        raise BadInput(f"--tunables: another copy is called {min(taken)}: rename that")
    check_count(len(copies) + len(added))
    return [*copies, *added], lines
