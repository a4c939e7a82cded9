"""Makes a trial inside a command, which runs several times if it is short. In operation the trial
takes a small part of the time, and its figures are read later."""

from __future__ import annotations

import argparse
import errno
import json
import os
import shutil
import signal
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from ...atomic_file import check_output, refuse_loss, write_files
from ...command_line import show, tell
from ...faults import BadInput, Failure, one_line
from ...figures import bytes_text, counted
from ...place_map import as_c, least_of, read_places
from ...preload import compile_preload, find_compiler
from ...preload_link import preload_line, preloadable
from ...profile import load_profile
from ...profile.faults import Fault
from ...profile.schema import read_checked
from ...profile.text import Kind
from ...program import called, find_program
from ...record.launching import PYTHON_IGNORES
from ...record.others import check_has_libcs, why_not_libcs
from ...record.raw import left_files
from ...record.recorder import admit_other_users, closed_to_others, find_library
from ...render import Asks, render_routine
from .. import programs
from ..copies import LIBC, Copy
from ..options import PROGRAM
from ..placeholders import check_placeholders
from ..run_words import progress
from ..runners import Commands
from .report import names_in, report, write_map
from .run import MERGED, CommandFailed, NoVerdict, Trial, Tried, why_not
from .ways import Way, environment, way_of_map, ways_for

_SECONDS = 30.0
_WAYS = "ways.json"
_KIND = Kind(
    noun="list of ways",
    program="asterope-prove --explore",
    format="asterope-ways",
    version=2,
    remedy="remove its folder, and explore again",
)
_ROOM = 1 << 20  # bytes: a process that copies much takes 0.2 MB
_MUCH = 16 << 20  # bytes of figures: a note tells of more


def prove_by_trial(arguments: argparse.Namespace) -> int:
    """Raises BadInput and Failure."""
    program = find_program(arguments.command)
    check_has_libcs(program)
    check_placeholders(arguments.command, has_client=False)
    recorder, ways = find_library(), ways_for(arguments)
    _check_outputs(arguments, ways)
    if arguments.name is not None:  # what _compile() needs: a trial is long
        load_profile(programs.profile_of(arguments.name))
        find_compiler()
    trial = Trial(program, ways, recorder, arguments.time or _SECONDS, arguments.cpu)
    began = time.monotonic()
    preload, judged = preload_beside(trial.ways[0].library), None

    def shown() -> int:
        progress()
        seconds = time.monotonic() - began
        return report(trial, arguments.command, arguments, seconds, preload, judged)

    try:
        trial.measure(progress)
        if arguments.name is not None and trial.observed.places:
            progress()
            preload, judged = _with_map(trial, arguments)
    except (KeyboardInterrupt, BadInput, Failure, OSError) as error:
        if isinstance(error, KeyboardInterrupt):
            trial.stopped_by = "interrupt"
        elif isinstance(error, CommandFailed):
            trial.stopped_by = "failure"
        if trial.observed.places or isinstance(error, KeyboardInterrupt):
            shown()
        progress()
        if isinstance(error, CommandFailed):
            raise _why_it_failed(error, trial, arguments.command[0]) from None
        raise
    return shown()


def _check_outputs(arguments: argparse.Namespace, ways: Sequence[Way]) -> None:
    """Raises BadInput and Failure."""
    named = {"--json": arguments.json, "--write": arguments.write}
    named = {option: file for option, file in named.items() if file is not None}
    for option, file in named.items():
        check_output(Path(file))
        for way in ways:
            refuse_loss(file, way.library, "the library", option)
    if len(named) == 2:
        refuse_loss(*named.values(), "the map of --write", "--json")


def _with_map(trial: Trial, arguments: argparse.Namespace) -> tuple[Path, Trial | None]:
    """Writes the program's map and compiles its library, and tries that as a whole if the map has
    places. Returns the library and its trial. A map that was not tried, or that surely loses to the
    routine alone, is dropped."""
    folder, judged = programs.folder_of(arguments.name), None
    library = folder / programs.PRELOAD
    try:
        file, names = folder / programs.MAP, names_in(trial)
        _, has_places = write_map(trial, trial.found(), names, arguments.command, file)
        _compile(arguments.name)
        if has_places:
            ways = [trial.ways[0], way_of_map(library)]
            judged = Trial(trial.program, ways, trial.recorder, trial.seconds, trial.cpus)
            judged.measure(lambda text: progress(f"the map as a whole: {text}"))
    except BaseException:
        _drop_map(arguments.name)
        raise
    if judged and judged.found().is_map_worse:
        _drop_map(arguments.name)
    return library, judged


def _why_it_failed(error: CommandFailed, trial: Trial, name: str) -> Failure:
    """Also says whether the command fails by itself."""
    also, plain = "", Commands(trial.program.command, "", trial.cpus, False)
    try:
        plain.run(Copy(LIBC), trial.seconds)
    except Failure:
        also = ", as it does without the trial"
    return Failure(f"{one_line(name)} {error}{also}")


def preload_beside(routine: Path) -> Path:
    """The library to preload afterwards."""
    beside = routine.with_name(programs.PRELOAD)
    return beside if beside.is_file() else routine


def _compile(name: str) -> None:
    """Compiles the program's library, with its map if it has one. Raises BadInput and Failure."""
    folder, profile = programs.folder_of(name), load_profile(programs.profile_of(name))
    table, least = None, 0
    if (folder / programs.MAP).is_file():
        places = read_places(folder / programs.MAP, profile.entries)
        table, least = as_c(places), least_of(places)
    library = compile_preload(render_routine(profile, asks=Asks(least)), table)
    write_files(folder, {programs.PRELOAD: library})


def _drop_map(name: str) -> None:
    folder = programs.folder_of(name)
    (folder / programs.MAP).unlink(missing_ok=True)
    with suppress(OSError):  # it has more; else it goes, as it stays empty if compiling fails
        folder.rmdir()
    _compile(name)


def list_programs() -> int:
    for folder in programs.kept():
        path = folder / programs.MAP
        map_text = "no map"
        if path.is_file():
            places = read_places(path, None)
            map_text = counted(len(places), "place") + " with another way than the routine"
        library = folder / programs.PRELOAD
        line = "its figures: asterope-prove merge " + folder.name
        if library.is_file():  # --explore alone makes no library
            line = preload_line(library, ["COMMAND"])
        show(f"{folder.name}: {map_text}: {line}")
    return 0


def remove_program(name: str) -> int:
    """Raises BadInput and OSError."""
    programs.remove(name)
    show(f"Removed all that was kept of {name}.")
    return 0


# --- In operation ---


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
        tell(PROGRAM, f"{one_line(why)}: it runs without a trial")
    for number in PYTHON_IGNORES:
        signal.signal(number, signal.SIG_DFL)
    os.execve(program.file, program.command, variables)


def _prepared(arguments: argparse.Namespace) -> dict[str, str]:
    """The environment of a trial. Raises BadInput, Failure and OSError."""
    ways = ways_for(arguments)
    folder = programs.folder_of(arguments.name)
    if (folder / programs.MAP).is_file() and (folder / programs.PRELOAD).is_file():
        ways.append(way_of_map((folder / programs.PRELOAD).resolve()))
    rows = [{**way.row, "built": way.library.stat().st_mtime_ns} for way in ways]
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
        tell(PROGRAM, f"{one_line(closed)}: {why}")
    if shutil.disk_usage(files).free < _ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(files))
    return environment(preloadable(find_library()), files.resolve(), ways, arguments.explore)


def _key(rows: Sequence[dict[str, Any]]) -> str:
    """The key of equal ways: a library that was built anew has another one."""
    return f"{zlib.crc32(json.dumps(rows, sort_keys=True).encode()):08x}"


def merge(arguments: argparse.Namespace) -> int:
    """Reports on all processes that ran or run under these names. Raises BadInput and Failure."""
    _check_outputs(arguments, ())
    names = list(dict.fromkeys(arguments.names))
    folders = [_newest(programs.existing_folder(name)) for name in names]
    # listed before they are read, so that the figures have all of them
    left = [path for folder in folders for path in left_files(folder)]
    (tried, command), *others = map(_read, folders)
    for name, (one, _) in zip(names[1:], others):
        if tried.names != one.names:
            raise BadInput(f"{one_line(name)}: its figures are of other ways: merge it by itself")
        tried.observed.add(one.observed)
        tried.said |= one.said
    tried.observed.runs, tried.stopped_by = tried.observed.processes, MERGED
    preload = programs.folder_of(names[0]) / programs.PRELOAD
    if not preload.is_file() or tried.found().is_map_worse:
        preload = preload_beside(tried.ways[0].library)
    try:
        if not tried.observed.places:
            why = why_not(tried) if tried.observed.processes or tried.observed.limits else None
            raise NoVerdict(why or f"{one_line(', '.join(names))}: no process has left figures yet")
        code = report(tried, command, arguments, tried.observed.wall_seconds, preload)
    except NoVerdict:  # what stays untold is given back, too; what could not be written is kept
        _give_back(left, arguments)
        raise
    _give_back(left, arguments)
    return code


def _give_back(left: Sequence[Path], arguments: argparse.Namespace) -> None:
    """Removes the files of processes that have ended, or tells their size and how to do so."""
    taken = sum(path.stat().st_blocks * 512 for path in left)
    ended = counted(len(left), "process that has ended", "processes that have ended")
    what = f"{bytes_text(taken)} of {ended}"
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
        for name in ("command", "ways"):
            if not raw.get(name) or not isinstance(raw[name], list):
                raise Fault(f"missing: {_KIND.remedy}", (name,))
        if files.name != _key(raw["ways"]):
            what = "no longer have the checksum that is the folder's name"
            raise Fault(f"{what}: {_KIND.remedy}", ("ways",))

    kept = read_checked(files / _WAYS, _KIND, None, check)
    for row in kept["ways"]:
        del row["built"]
    ways = [Way(**{**row, "library": Path(row["library"])}) for row in kept["ways"]]
    tried = Tried(ways, called=called(kept["command"][0]))
    tried.read(files, in_operation=True)
    return tried, kept["command"]
