"""Explores in operation: runs a command with a trial in a small part of its time. It also reads the
figures that the processes have left until now."""

from __future__ import annotations

import argparse
import errno
import json
import os
import shutil
import signal
import sys
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from ...atomic_file import write_files
from ...command_line import show
from ...faults import BadInput, Failure, one_line
from ...figures import bytes_text
from ...preload_link import preloadable
from ...profile.faults import Fault
from ...profile.schema import read_checked
from ...profile.text import Kind
from ...program import called, find_program
from ...record.launching import PYTHON_IGNORES
from ...record.others import why_not_libcs
from ...record.raw import left_files
from ...record.recorder import admit_other_users, closed_to_others, find_library
from .. import programs
from ..options import PROGRAM
from .command import preload_beside, ways_for
from .report import report
from .run import MERGED, Tried, why_not
from .ways import Way, environment, way_of_map

_WAYS = "ways.json"
_SCHEMA_FILE = Path(__file__).resolve().parents[2] / "ways.schema.json"
_KIND = Kind(
    noun="list of ways",
    program="asterope-prove --explore",
    format="asterope-ways",
    version=2,
    remedy="remove its folder, and explore again",
)
_OF_WAYS = ("copy", "set", "is_whole", "least")  # behind the first two fields
_ROOM = 1 << 20  # bytes: a process that copies much takes 0.2 MB
_MUCH = 16 << 20  # bytes of figures: a note tells of more


def explore(arguments: argparse.Namespace) -> NoReturn:
    """Becomes the command. It runs without a trial if that can tell nothing, or if the machine has
    no room for it. Raises BadInput, and OSError."""
    program, variables = find_program(arguments.command), dict(os.environ)
    why: object = why_not_libcs(program)
    try:
        if why is None:
            variables = _prepared(arguments)
    except (Failure, OSError) as error:
        why = error if isinstance(error, Failure) else f"{error.filename}: {error.strerror}"
    if why is not None:
        print(f"{PROGRAM}: {one_line(why)}: it runs without a trial", file=sys.stderr)
    for number in PYTHON_IGNORES:
        signal.signal(number, signal.SIG_DFL)
    os.execve(program.file, program.command, variables)


def _prepared(arguments: argparse.Namespace) -> dict[str, str]:
    """The environment of a trial. Raises BadInput, Failure and OSError."""
    ways = ways_for(arguments)
    folder = programs.folder_of(arguments.name)
    if (folder / programs.MAP).is_file() and (folder / programs.PRELOAD).is_file():
        ways.append(way_of_map((folder / programs.PRELOAD).resolve()))
    rows = [
        {**vars(way), "library": str(way.library), "built": way.library.stat().st_mtime_ns}
        for way in ways
    ]
    kept = {
        "format": _KIND.format,
        "version": _KIND.version,
        "command": list(map(str, arguments.command)),
        "ways": rows,
    }
    files = folder / programs.FIGURES / _key(rows)
    write_files(files, {_WAYS: json.dumps(kept, indent=1) + "\n"})
    _remove_of_other_ways(files)
    admit_other_users(files)
    closed = closed_to_others(files)
    if closed is not None:
        why = "other users may not enter it: processes that become one leave no figures"
        print(f"{PROGRAM}: {one_line(closed)}: {why}", file=sys.stderr)
    if shutil.disk_usage(files).free < _ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(files))
    return environment(preloadable(find_library()), files.resolve(), ways, arguments.explore)


def _key(rows: Sequence[Mapping[str, Any]]) -> str:
    """The key of equal ways: a library that was built anew has another one."""
    return f"{zlib.crc32(json.dumps(rows, sort_keys=True).encode()):08x}"


def merge(arguments: argparse.Namespace) -> int:
    """Reports on all processes that ran or run under these names. Raises BadInput and Failure."""
    folders = [_newest(programs.existing_folder(name)) for name in arguments.names]
    # listed before they are read, so that the figures have all of them
    left = [path for folder in folders for path in left_files(folder)]
    (tried, command), *others = map(_read, folders)
    for name, (one, _) in zip(arguments.names[1:], others):
        if tried.names != one.names:
            raise BadInput(f"{one_line(name)}: its figures are of other ways: merge it by itself")
        tried.observed.add(one.observed)
    tried.observed.runs, tried.stopped_by = tried.observed.processes, MERGED
    if not tried.observed.places:
        why = why_not(tried) if tried.observed.processes or tried.observed.limits else None
        names = one_line(", ".join(arguments.names))
        raise Failure(why or f"{names}: no process has left figures yet")
    preload = programs.folder_of(arguments.names[0]) / programs.PRELOAD
    if not preload.is_file():
        preload = preload_beside(tried.ways[0].library)
    code = report(tried, command, arguments, tried.observed.wall_seconds, preload)
    _give_back(left, arguments)
    return code


def _give_back(left: Sequence[Path], arguments: argparse.Namespace) -> None:
    """Removes the files of processes that have ended, or tells their size and how to do so."""
    taken = sum(path.stat().st_blocks * 512 for path in left)
    what = f"{bytes_text(taken)} of {len(left)} processes that have ended"
    if arguments.forget:
        for path in left:
            path.unlink(missing_ok=True)
        show(f"Removed: {what}.")
    elif taken > _MUCH:
        names = one_line(" ".join(arguments.names))
        show(f"Note: {what} are kept: {PROGRAM} merge {names} --forget removes them.")


def _remove_of_other_ways(files: Path) -> None:
    """Removes the figures of ended processes under earlier libraries and maps, as no merge reads
    them. Running processes keep theirs."""
    for kept in files.parent.glob(f"*/{_WAYS}"):
        if kept.parent != files:
            with suppress(OSError):
                for path in left_files(kept.parent):
                    path.unlink(missing_ok=True)
                if not list(kept.parent.glob("*.raw")):
                    shutil.rmtree(kept.parent)


def _newest(folder: Path) -> Path:
    """The folder of figures of the ways that were tried last."""
    found = list((folder / programs.FIGURES).glob(f"*/{_WAYS}"))
    if not found:
        raise BadInput(
            f"{one_line(folder.name)}: has no figures: run asterope-prove --explore 64 --name "
            f"{one_line(folder.name)} -- COMMAND"
        )
    return max(found, key=lambda path: path.stat().st_mtime_ns).parent


def _read(files: Path) -> tuple[Tried, list[str]]:
    def check(raw: Any) -> None:
        if files.name != _key(raw["ways"]):
            what = "no longer have the checksum that is the folder's name"
            raise Fault(f"{what}: {_KIND.remedy}", ("ways",))

    kept = read_checked(files / _WAYS, _KIND, _SCHEMA_FILE, check)
    ways = [
        Way(row["name"], Path(row["library"]), *(row[one] for one in _OF_WAYS))
        for row in kept["ways"]
    ]
    tried = Tried(ways, called=called(kept["command"][0]))
    tried.read(files, in_operation=True)
    return tried, kept["command"]
