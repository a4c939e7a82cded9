"""What is not libc's in a program: a sanitizer, another memcpy, the routine itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..faults import BadInput, one_line
from ..program import Program
from .raw import FIRST, NEXT, PROGRAM, ROUTINE, SANITIZER, SANITIZERS

# What lines of a recording's warnings say, which advice goes by.
CHECKED = "whose checks are a part of what copies take"
OWN = "of its own, whose calls are not seen"

_INITIALIZERS = dict(
    zip(("__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"), SANITIZERS)
)
_FUNCTIONS = ("memcpy", "asterope_memcpy")
_PRELOADED = Path("/etc/ld.so.preload")


@dataclass
class Others:
    """Of any number of processes. `own`: by name of a file, which of the functions it has."""

    sanitizers: set[str] = field(default_factory=set)
    next: set[str] = field(default_factory=set)  # names of files whose memcpy is in libc's place
    own: dict[str, set[str]] = field(default_factory=dict)

    def add_own(self, file: str, functions: Iterable[str]) -> None:
        for function in functions:
            self.own.setdefault(_name(file), set()).add(function)

    @property
    def checked_by(self) -> str:
        return " and ".join(sorted(self.sanitizers))

    def own_words(self) -> list[str]:
        return [
            f"{name} has {' and '.join(f'{_article(one)} {one}' for one in sorted(found))} {OWN}"
            for name, found in sorted(self.own.items())
        ]


def others_of(said: Iterable[tuple[str, str]]) -> Others:
    """From what processes say, see RawProcess.others."""
    others = Others()
    for what, file in said:
        if what == SANITIZER:
            others.sanitizers.add(file)
        elif what == NEXT:
            others.next.add(_name(file))
        elif what == FIRST:
            others.add_own(file, ["memcpy"])
        elif what == ROUTINE:
            others.add_own(file, ["asterope_memcpy"])
        elif what == PROGRAM:
            others.add_own(file, _defined_in(file))
    if others.sanitizers:  # these have functions of libc's
        others.own, others.next = {}, set()
    return others


def warnings_of(others: Others) -> list[str]:
    """For a recording."""
    warnings = []
    if others.sanitizers:
        warnings.append(f"the program has {others.checked_by}, {CHECKED}")
    if others.next:
        warnings.append(f"the memcpy that is recorded is that of {_names(others.next)}, not libc's")
    return warnings + others.own_words()


def check_has_libcs(program: Program) -> None:
    """Before copies of a program are compared with libc's. Raises BadInput where another memcpy is
    in libc's place."""
    others = Others()
    found = _symbols_of(str(program.file), tuple(_INITIALIZERS))
    others.sanitizers = {_INITIALIZERS[name] for name in found}
    if not others.sanitizers:
        others.next = {
            _name(library)
            for library in _preloaded()
            if _symbols_of(library, ["memcpy"]).get("memcpy")
        }
    why = _why_not_libcs(others)
    if why is not None:
        raise BadInput(f"{one_line(program.found.name)}: {why}")


def why_no_verdict(said: Iterable[tuple[str, str]], has_seen_copies: bool) -> str | None:
    """Why a trial cannot tell what the routine brings, as what it saw is not libc's, or not all;
    None: it can."""
    others = others_of(said)
    why = _why_not_libcs(others)
    if why is None and others.own and not has_seen_copies:
        why = f"{'; '.join(others.own_words())}: asterope-prove --against OTHER compares two builds"
    return why


def _why_not_libcs(others: Others) -> str | None:
    if others.sanitizers:
        return f"the program has {others.checked_by}, {CHECKED}: prove a build without it"
    if others.next:
        return (
            f"the memcpy in libc's place is that of {_names(others.next)}: prove the program "
            f"without that library, which {_PRELOADED} may name"
        )
    return None


def _defined_in(program: str) -> list[str]:
    name = _name(program)
    if name.startswith("ld-") or name.startswith("ld.so"):  # its own are for itself
        return []
    return [one for one, is_defined in _symbols_of(program, _FUNCTIONS).items() if is_defined]


def _symbols_of(file: str, names: Collection[str]) -> dict[str, bool]:
    try:  # not above: all else does without pyelftools
        from .symbols import symbols_of
    except ModuleNotFoundError:
        return {}
    return symbols_of(file, list(names))


def _preloaded() -> list[str]:
    """For all programs of the machine."""
    try:
        text = _PRELOADED.read_text(errors="replace")
    except OSError:
        return []
    return [
        word for line in text.splitlines() for word in re.split(r"[\s:]+", line.partition("#")[0])
    ]


def _name(file: str) -> str:
    return one_line(Path(file).name)[:80]


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
