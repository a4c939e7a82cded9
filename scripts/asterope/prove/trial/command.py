"""Makes asterope-prove's trial inside a command; a short command runs several times."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ...atomic_file import check_output, write_files
from ...command_line import show
from ...faults import Failure, one_line
from ...place_map import as_c, counted, least_of, read_places
from ...preload import compile_preload
from ...preload_link import preload_line
from ...profile import load_profile
from ...program import find_program
from ...record.others import check_has_libcs
from ...record.recorder import find_library
from ...render import Asks, render_routine
from .. import programs
from ..places import check_placeholders
from ..run_words import ProgressLine
from .report import names_in, report, write_map
from .run import Trial, fails_alone
from .ways import (
    Way,
    check_ways,
    find_routine,
    parse_way,
    way_of_map,
    ways_of_finalists,
    ways_of_routine,
)

_SECONDS = 30.0


def prove_by_trial(arguments: argparse.Namespace) -> int:
    """Raises BadInput and Failure."""
    trial = _trial(arguments)
    line, began = ProgressLine(), time.monotonic()
    preload, judged = preload_beside(trial.ways[0].library), None

    def shown() -> int:
        line.clear()
        seconds = time.monotonic() - began
        return report(trial, arguments.command, arguments, seconds, preload, judged)

    try:
        trial.measure(line.say)
        if arguments.name is not None and trial.observed.places:
            line.clear()
            try:
                preload, ways = _keep(trial, arguments)
                if ways:
                    judged = Trial(trial.program, ways, trial.recorder, trial.seconds, trial.cpus)
                    judged.measure(lambda text: line.say(f"the map as a whole: {text}"))
            except BaseException:
                _drop_map(arguments.name)
                raise
            gain = judged and judged.found().map_gain
            if gain and gain.high < 0:
                _drop_map(arguments.name)
    except KeyboardInterrupt:
        trial.stopped_by = "interrupt"
        judged = None
        shown()
        raise
    except Failure as error:
        trial.stopped_by = "failure"
        judged = None
        if trial.observed.places:
            shown()
        line.clear()
        alone = fails_alone(trial)
        also = "" if alone is None else ", as it does without the trial"
        raise Failure(f"{one_line(arguments.command[0])} {error}{also}") from None
    return shown()


def ways_for(arguments: argparse.Namespace) -> list[Way]:
    """Returns the ways, the routine first. Raises BadInput."""
    own = None if arguments.name is None else programs.folder_of(arguments.name)
    routine = find_routine(arguments.routine, own)
    ways = [*ways_of_routine(routine), *map(parse_way, arguments.copy or ())]
    if arguments.finalists:
        ways += ways_of_finalists(programs.profile_of(arguments.name or ""))
    check_ways(ways)
    return ways


def preload_beside(routine: Path) -> Path:
    """The library to preload afterwards."""
    beside = routine.with_name(programs.PRELOAD)
    return beside if beside.is_file() else routine


def _trial(arguments: argparse.Namespace) -> Trial:
    """Raises BadInput."""
    for named in (arguments.json, arguments.write):
        if named is not None:
            check_output(Path(named))
    program = find_program(arguments.command)
    check_has_libcs(program)
    check_placeholders(arguments.command, has_client=False)
    recorder, ways = find_library(), ways_for(arguments)
    return Trial(program, ways, recorder, arguments.time or _SECONDS, arguments.cpu)


def _keep(trial: Trial, arguments: argparse.Namespace) -> tuple[Path, list[Way] | None]:
    """Writes the program's map and compiles its library. Returns the library and the ways of its
    trial; these are None if the map has no place."""
    folder = programs.folder_of(arguments.name)
    folder.mkdir(parents=True, exist_ok=True)
    file, names = folder / programs.MAP, names_in(trial)
    _, has_places = write_map(trial, trial.found(), names, arguments.command, file)
    _compile(arguments.name)
    library = folder / programs.PRELOAD
    if not has_places:
        return library, None
    return library, [trial.ways[0], way_of_map(library)]


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
    (programs.folder_of(name) / programs.MAP).unlink(missing_ok=True)
    _compile(name)


def list_programs() -> int:
    for folder in programs.kept():
        path = folder / programs.MAP
        map_text = "no map"
        if path.is_file():
            places = read_places(path, None)
            map_text = counted(len(places)) + " with another way than the routine"
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
