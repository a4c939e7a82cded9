"""The command asterope-record: the copies that a program makes, and their cost at most."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..arguments import duration, file_name
from ..atomic_file import check_output, write_output
from ..command_line import DONE, FAILED, Parser, run, show, tell
from ..faults import BadInput, Failure, one_line
from ..preload_link import preloadable
from ..program import find_program
from .launching import Event, Running, environment_with
from .recorder import find_library
from .recording import executable_of, kept_text, recording_text
from .session import Session
from .table import answer

PROGRAM = "asterope-record"
DEFAULT_OUTPUT = "recording.json"

_say = partial(tell, PROGRAM)  # on stderr, because stdout is the command's


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [OPTIONS] -- COMMAND [ARGUMENTS]",
        description="Runs a command and records its copies: their sizes, the places in the code "
        "that make them, and their greatest possible share of the CPU time. The recording is "
        "written when the command ends, when SIGUSR2 comes and when --duration is over. It does "
        "not hold the copied data. asterope-prove tells how much faster a tuned routine makes the "
        "command.",
        epilog="Exit codes: 0 the recording is written and the command succeeded; 1 it is written "
        "and the command failed, or it could not be written; 2 bad arguments or a command that "
        "cannot be recorded; 130 interrupted.",
    )
    parser.add_argument(
        "command", metavar="COMMAND", nargs="*", help="what to run, with its arguments, behind --"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file_name,
        metavar="FILE",
        help=f"the recording to write (default: {DEFAULT_OUTPUT}, unless that is another "
        "program's)",
    )
    parser.add_argument(
        "--duration",
        metavar="TIME",
        type=duration,
        help="record this long, as in 60s or 10m; the command then goes on unrecorded (default: "
        "until it ends)",
    )
    return parser


def _parse(given: Sequence[str]) -> argparse.Namespace:
    """All words behind the first -- are the command's."""
    words = list(given)
    at = words.index("--") if "--" in words else len(words)
    parser = _parser()
    arguments = parser.parse_args(words[:at])
    if arguments.command:
        parser.error(f"{arguments.command[0]}: put the command behind --")
    arguments.command = words[at + 1 :]
    if not arguments.command:
        parser.error("no command: put one behind --")
    return arguments


def _record(arguments: argparse.Namespace) -> int:
    program, output = find_program(arguments.command), Path(arguments.output or DEFAULT_OUTPUT)
    executable = os.path.realpath(program.found)
    if not arguments.output:
        _check_is_no_others(output, executable)
    check_output(output)
    library = find_library()
    with closing(Session(arguments.command, executable)) as session:
        environment = environment_with(preloadable(library, session.folder), session.folder)
        try:
            running = Running(program.found, arguments.command, environment, session.folder)
        except OSError as error:
            raise BadInput(
                f"{one_line(program.found)}: cannot be run: {error.strerror}: name another command"
            ) from None
        with closing(running):
            written = _follow(running, session, output, arguments.duration)
            if not written:
                recording = session.recording(running)
                try:
                    write_output(output, recording_text(recording))
                finally:  # a full disk does not hide the answer
                    _show(recording)
        if running.ended:
            held = "" if written else f": {one_line(output)} holds its copies until then"
            _say(f"{running.ended}{held}")
        elif not written:
            _say(f"wrote {one_line(output)}")
        return FAILED if running.ended else DONE


def _check_is_no_others(output: Path, executable: str) -> None:
    """Raises BadInput if a recording of another program lies there, as the user named no file."""
    other = executable_of(output)
    if other not in (None, kept_text(executable)):
        raise BadInput(
            f"{one_line(output)}: is the recording of another program, {one_line(other)[:200]}: "
            "name a file with -o"
        )


def _follow(running: Running, session: Session, output: Path, duration: float | None) -> bool:
    """Follows the command until it ends. Returns whether the duration was over before that: then
    the recording is written already. Raises Failure and OSError only after the command's end."""
    is_over, failure = False, None
    for event in running.events(duration):
        if is_over:
            continue
        with suppress(OSError):  # writing the recording looks again, and tells of the error
            session.look(running)
        if event is Event.TURN:
            continue
        is_over = event is Event.DURATION
        if is_over:
            session.stop()
        recording, said = None, f"{one_line(output)} is written"
        try:
            recording = session.recording(running)
            write_output(output, recording_text(recording))
        except (Failure, OSError) as error:
            said = f"cannot record: {error.strerror}" if isinstance(error, OSError) else str(error)
            failure = error if is_over else None
        if not is_over:
            _say(f"{said}; the command goes on and is recorded")
            continue
        session.close()
        if recording:
            _show(recording)
        _say(f"recorded for {duration:g} s: {said}; the command goes on, and this waits for it")
    if failure:
        raise failure
    return is_over


def _show(recording: Mapping[str, Any]) -> None:
    if sys.stderr is not None:
        show(answer(recording), sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    return run(PROGRAM, lambda: _record(arguments))
