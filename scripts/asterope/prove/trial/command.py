"""asterope-prove's first way: the trial inside one run of a command."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ...command_line import DONE, FAILED, STALE, show
from ...faults import BadInput, Failure
from ...one_line import one_line
from ...output_file import check_output, write_output
from ...program import CannotPreload, find_program
from ...record.recorder import LIBRARY, find_library
from ...record.symbols import name_functions
from ..places import check_placeholders, placeholders_in
from ..words import ProgressLine
from . import words
from .document import document
from .findings import Found
from .mapping import map_of
from .run import Trial, fails_alone, why_not
from .ways import check_ways, find_routine, parse_way, ways_of_routine

_SECONDS = 30.0


def prove_by_trial(arguments: argparse.Namespace) -> int:
    """Raises BadInput and Failure."""
    trial, preload = _trial(arguments)
    line, began = ProgressLine(sys.stderr), time.monotonic()

    def report() -> int:
        line.clear()
        return _report(trial, preload, time.monotonic() - began, arguments)

    try:
        trial.measure(line.say)
    except KeyboardInterrupt:
        trial.stopped_by = "interrupt"
        report()
        raise
    except Failure as error:
        trial.stopped_by = "failure"
        if trial.observed.places:
            report()
        line.clear()
        alone = fails_alone(trial)
        also = "" if alone is None else ", as it does without the trial"
        raise Failure(f"{one_line(arguments.command[0])} {error}{also}") from None
    return report()


def _trial(arguments: argparse.Namespace) -> tuple[Trial, Path]:
    """And the library to preload afterwards."""
    for named in (arguments.json, arguments.write):
        if named is not None:
            check_output(Path(named))
    try:
        program = find_program(arguments.command)
    except CannotPreload as error:
        raise BadInput(str(error)) from None
    check_placeholders(arguments.command)
    if placeholders_in(arguments.command) - {"folder"}:
        raise BadInput("{port} and {socket} are a server's: name its client with --client")
    recorder = find_library()
    if recorder is None:
        raise Failure(f"{LIBRARY} is not there: build it")
    routine = find_routine(arguments.routine, recorder.parent)
    ways = [*ways_of_routine(routine), *map(parse_way, arguments.copy or ())]
    check_ways(ways)
    beside = routine.with_name("libasterope_preload.so")
    seconds = arguments.time or _SECONDS
    trial = Trial(program, ways, recorder, seconds, arguments.cpu)
    return trial, beside if beside.is_file() else routine


def _report(trial: Trial, preload: Path, seconds: float, arguments: argparse.Namespace) -> int:
    """Prints and writes what is known; returns the exit code. Raises Failure."""
    observed = trial.observed
    found = trial.found()
    own = [place for place in observed.places if place.is_own]
    functions = name_functions([(place.module, place.offset) for place in own])
    names = dict(zip(own, functions))
    notes, mapped, unwritten = words.other_ways(found), None, None
    try:  # what was found is shown though a disk is full
        if arguments.json is not None:
            text = document(trial, found, names, arguments.command, seconds)
            write_output(Path(arguments.json), text)
        if arguments.write is not None:
            path = Path(arguments.write)
            text, lines, has_places = map_of(trial, found, names, arguments.command, path)
            write_output(path, text)
            notes, mapped = lines, path if has_places else None
    except Failure as error:
        unwritten = error
    why = why_not(trial)
    if observed.places and not why:
        shown = [
            words.sentence(found),
            words.clock_line(found, observed),
            "",
            words.table(found, names),
            "",
            *words.limits(observed),
            *notes,
        ]
        if trial.stopped_by != "failure":
            shown.append(words.what_to_do(found, arguments.command, preload, mapped))
        show("\n".join(shown))
    elif not why:
        show("This program makes no copies that a library sees: there is nothing to try.")
        show("Leave it: nothing to gain here.")
    if why:
        raise Failure(why)
    if unwritten:
        raise unwritten
    return _code(found) if observed.places else DONE


def _code(found: Found) -> int:
    if found.gain is None:
        return FAILED
    return STALE if found.gain.high < 0 else DONE
