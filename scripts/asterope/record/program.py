"""Finds the program of a command, and refuses the ones that no library can be preloaded into."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

from ..one_line import one_line

# As many as the kernel follows (BINPRM_MAX_RECURSION).
MOST_INTERPRETERS = 5

_BAD_FILE = (ELFError, ConstructError, ValueError, KeyError, OverflowError)


class BadCommand(Exception):
    """A command that cannot be recorded: one line, which names it."""


def find_program(command: Sequence[str], path: str | None = None) -> str:
    """The file that the command's first word runs. `path`: as in the environment. Raises
    BadCommand where there is none, or where it could not be recorded."""
    word = command[0]
    where = shutil.which(word, path=path) if word else None
    if where is None:
        raise BadCommand(_why_not_there(word))
    _refuse(where, list(command[1:]), path, MOST_INTERPRETERS)
    return where


def _why_not_there(word: str) -> str:
    shown = one_line(word) if word else "an empty word"
    if os.sep not in word:
        return f"{shown}: no such command on the PATH: check its name"
    if os.path.isdir(word):
        return f"{shown}: a folder: name a program"
    if os.path.exists(word):
        return f"{shown}: cannot be executed: name a program, or chmod +x it"
    return f"{shown}: no such file: check the path"


def _refuse(where: str, rest: Sequence[str], path: str | None, depth: int) -> None:
    reason = why_not(where)
    if reason:
        raise BadCommand(f"{one_line(where)}: {reason}")
    interpreter = _interpreter(where)
    if not interpreter:
        return
    if not depth:
        raise BadCommand(f"{one_line(where)}: its interpreters go round in a circle")
    program = interpreter[0]
    if not os.access(program, os.X_OK) or os.path.isdir(program):
        raise BadCommand(
            f"{one_line(where)}: its interpreter {one_line(program)} cannot be executed: correct "
            "the script's first line"
        )
    try:
        _refuse(program, [], path, depth - 1)
        if Path(program).name == "env":
            _refuse_what_env_runs(interpreter[1:], path, depth - 1)
    except BadCommand as error:
        raise BadCommand(f"{one_line(where)}: run by {error}") from None


def _refuse_what_env_runs(words: Sequence[str], path: str | None, depth: int) -> None:
    for word in " ".join(words).split():
        if not word.startswith("-") and "=" not in word:
            found = shutil.which(word, path=path)
            if found is not None:
                _refuse(found, [], path, depth)
            return


def why_not(where: str) -> str:
    """Why nothing can be preloaded into this program, and what to do; empty where it can."""
    try:
        status = os.stat(where)
        with open(where, "rb") as file:
            start = file.read(4)
            if start[:2] == b"#!":
                return ""
            if start != b"\x7fELF":
                return "neither a program nor a script with an interpreter in its first line"
            reason = _why_not_elf(ELFFile(file))
    except PermissionError:
        return ""  # it runs, though nobody may read it
    except OSError as error:
        return f"cannot read it: {error.strerror}"
    except _BAD_FILE:
        return "a damaged program: install it again"
    return reason or _why_not_privileged(where, status)


def _why_not_elf(elf: ELFFile) -> str:
    if (elf.elfclass, elf["e_machine"], elf.little_endian) != (64, "EM_X86_64", True):
        bits = f"{elf.elfclass} bit {elf.get_machine_arch()}"
        return f"of another architecture ({bits}): only x86-64 programs can be recorded"
    interpreters = [s.get_interp_name() for s in elf.iter_segments("PT_INTERP")]
    if not interpreters:
        if _is_loader(elf):
            return ""
        return "statically linked, so nothing can be preloaded: link it dynamically"
    if "musl" in interpreters[0]:
        return f"linked with another libc ({one_line(interpreters[0])}): link it with glibc"
    return ""


def _is_loader(elf: ELFFile) -> bool:
    """ld.so runs the program that it is given, and preloads."""
    dynamic = elf.get_section_by_name(".dynamic")
    names = [tag.soname for tag in dynamic.iter_tags("DT_SONAME")] if dynamic is not None else []
    return any(name.startswith("ld-linux") for name in names)


def _why_not_privileged(where: str, status: os.stat_result) -> str:
    """The kernel has ld.so ignore LD_PRELOAD where a program gets rights that its caller lacks."""
    if status.st_mode & stat.S_ISUID and status.st_uid != os.getuid():
        return "set-user-ID, so nothing can be preloaded: run it as its owner"
    if status.st_mode & stat.S_ISGID and status.st_gid != os.getgid():
        return "set-group-ID, so nothing can be preloaded: run it with its group"
    if os.getuid() != 0:
        try:
            os.getxattr(where, "security.capability")
        except OSError:
            return ""
        return "has file capabilities, so nothing can be preloaded: run it as root"
    return ""


def _interpreter(where: str) -> list[str]:
    """Of a script: the interpreter and its argument, as the kernel takes them; else nothing."""
    try:
        with open(where, "rb") as file:
            first = file.read(256).partition(b"\n")[0]
    except OSError:
        return []
    if not first.startswith(b"#!"):
        return []
    words = os.fsdecode(first[2:]).strip().split(None, 1)
    if not words:
        raise BadCommand(f"{one_line(where)}: its first line names no interpreter")
    return words


def environment_with(library: Path, folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """What makes the program load the recorder, before the libraries that are preloaded already.
    Raises BadCommand where the library's path cannot be given."""
    if any(separator in str(library) for separator in " :"):
        raise BadCommand(f"{one_line(library)}: LD_PRELOAD takes no path with a blank or a colon")
    preloaded = environment.get("LD_PRELOAD", "")
    both = f"{library}:{preloaded}" if preloaded else str(library)
    return {**environment, "LD_PRELOAD": both, "ASTEROPE_RECORD": str(folder)}
