"""The program that a command line starts, and whether a library can be preloaded into it."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .faults import BadInput, one_line

_DEEPEST = 4  # interpreters of interpreters, as Linux follows them
_PT_INTERP = 3
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


@dataclass(frozen=True)
class Called:
    """A program: its file behind all links, and the name that its user has for it, which may be a
    link's."""

    file: str
    name: str

    def name_of(self, file: str) -> str:
        """That name where `file` is the program's; else the file itself."""
        return self.name if file == self.file else file


def called(command: str) -> Called:
    """By the first word of a command line."""
    return Called(os.path.realpath(shutil.which(command) or command), Path(command).name)


class CannotPreload(BadInput):
    """The command has no program, or one that takes no preloaded library: one line says why."""


@dataclass(frozen=True)
class Program:
    """`file`: the ELF program that Linux starts, which for a script is its interpreter.
    `arguments`: what follows the program's name then. `found`: what the command's name is, a script
    itself. `loader`: the ld.so that loads it, which may be the file itself."""

    file: Path
    arguments: Sequence[str]
    found: Path
    loader: Path

    @property
    def command(self) -> list[str]:
        return [str(self.file), *self.arguments]

    @property
    def called(self) -> Called:
        return called(str(self.found))


def find_program(command: Sequence[str]) -> Program:
    """Looks for the command's program as a shell does, and behind a script's `env` for the one
    that is run then. Raises CannotPreload."""
    name = one_line(command[0])
    found = shutil.which(command[0])
    if found is None:
        if os.path.isdir(command[0]):
            raise CannotPreload(f"{name}: is a folder, not a program")
        if os.path.isfile(command[0]):
            raise CannotPreload(f"{name}: is not executable: chmod +x it")
        raise CannotPreload(f"{name}: no such command")
    # Absolute: of "./name" a path would keep only the name, which is looked for elsewhere then.
    program = check_program(Path(os.path.abspath(found)), list(command[1:]), name)
    if program.file.name == "env" and program.file != program.found:
        _check_what_env_runs(program, name)
    return program


def _check_what_env_runs(program: Program, name: str) -> None:
    words = " ".join(program.arguments[: program.arguments.index(str(program.found))]).split()
    runs = [word for word in words if not word.startswith("-") and "=" not in word]
    if runs:
        try:
            find_program(runs[:1])
        except CannotPreload as error:
            raise CannotPreload(f"{name}: runs {error}") from None


def check_program(file: Path, arguments: list[str], name: str) -> Program:
    """The program of a file, with these arguments. `name`: its name in errors. Raises
    CannotPreload."""
    found = file
    for _ in range(_DEEPEST):
        try:
            with file.open("rb") as opened:
                head = opened.read(256)
        except OSError as error:
            raise CannotPreload(f"{name}: cannot be read: {error.strerror}") from None
        if not head.startswith(b"#!"):
            break
        interpreter = head[2:].partition(b"\n")[0].strip().split(maxsplit=1)
        if not interpreter:
            raise CannotPreload(f"{name}: is a script whose first line names no interpreter")
        arguments = [*map(os.fsdecode, interpreter[1:]), str(file), *arguments]
        file = Path(os.fsdecode(interpreter[0]))
    if not head.startswith(b"\x7fELF"):
        raise CannotPreload(f"{name}: is neither an ELF program nor a script that starts with #!")
    loader = _loader_of(file, name)
    _check_privileges(file, name)
    return Program(file, arguments, found, loader)


def _loader_of(file: Path, name: str) -> Path:
    with file.open("rb") as opened:
        header = opened.read(64)
        here = platform.machine()
        machine = struct.unpack_from("<H", header, 18)[0] if len(header) >= 20 else 0
        if len(header) < 64 or header[4:6] != b"\x02\x01" or _MACHINES.get(machine) != here:
            built_for = _MACHINES.get(machine, "another architecture")
            raise CannotPreload(f"{name}: is built for {built_for}, and this machine is {here}")
        (offset,) = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        table = _bytes_at(opened, offset, size * count)
        if size < 56 or len(table) < size * count:
            raise CannotPreload(f"{name}: is a truncated ELF program")
        segments = [struct.unpack_from("<IIQQQQ", table, size * entry) for entry in range(count)]
        interpreters = [
            os.fsdecode(_bytes_at(opened, at, min(long, 4096)))
            for kind, _, at, _, _, long in segments
            if kind == _PT_INTERP
        ]
    if interpreters and "musl" in interpreters[0]:
        raise CannotPreload(f"{name}: is linked with musl: only glibc's programs can be preloaded")
    if interpreters:
        return Path(interpreters[0].rstrip("\0"))
    if file.resolve().name.startswith("ld-"):  # ld.so itself preloads
        return file
    raise CannotPreload(f"{name}: is linked statically: no library can be preloaded into it")


def _bytes_at(opened: BinaryIO, at: int, long: int) -> bytes:
    try:
        opened.seek(at)
        return opened.read(long)
    except (OSError, ValueError, OverflowError):  # beyond what a file can have
        return b""


def _check_privileges(file: Path, name: str) -> None:
    """Refuses a program with more rights than its caller: ld.so preloads nothing there."""
    status = file.stat()
    as_user = status.st_mode & stat.S_ISUID and status.st_uid != os.getuid()
    as_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getgid()
    if as_user or as_group:
        who = "user" if as_user else "group"
        raise CannotPreload(f"{name}: is set-{who}-ID: no library can be preloaded into it")
    if os.getuid() != 0 and "security.capability" in _attributes(file):
        raise CannotPreload(f"{name}: has capabilities: no library can be preloaded into it")


def _attributes(file: Path) -> Sequence[str]:
    try:
        return os.listxattr(file)
    except OSError:  # a file system without them
        return ()
