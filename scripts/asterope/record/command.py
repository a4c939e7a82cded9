"""The command asterope-record: which copies a program makes, and what they cost at most."""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..command_line import BAD_INPUT, DONE, FAILED, Parser, fail, run, show, tell, to_install
from ..duration import duration
from ..faults import BadInput, Failure
from ..one_line import one_line
from ..output_file import check_output, write_output
from ..preload_link import preloadable
from ..program import CannotPreload, find_program
from .facts import Facts, this_machine
from .launching import Event, Running, environment_with
from .recorder import LIBRARY, find_library
from .recording import recording_text
from .session import Session
from .table import answer

PROGRAM = "asterope-record"
DEFAULT_OUTPUT = "recording.json"


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [OPTIONS] -- COMMAND [ARGUMENTS]",
        description="Runs a command and records its copies: how many of which sizes, which places "
        "in the code make them, and what share of the CPU time they take at most. The recording is "
        "written when the command ends, when SIGUSR2 comes and when --duration is over. Nothing of "
        "the data copied is kept. What a tuned routine brings the command says asterope-prove.",
        epilog="Exit codes: 0 the recording is written and the command succeeded; 1 it is written "
        "and the command failed, or it could not be written; 2 bad arguments or a command that "
        "cannot be recorded; 130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "command",
        metavar="COMMAND",
        nargs="*",
        help="what to run, with its arguments, behind --",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_OUTPUT,
        help="the recording to write (default: %(default)s)",
    )
    parser.add_argument(
        "--duration",
        metavar="TIME",
        type=duration,
        help="record this long, as in 60s or 10m; the command then goes on without (default: until "
        "it ends)",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a page with pictures, too, as asterope-report does",
    )
    parser.expert.add_argument(
        "--recorder",
        metavar="FILE",
        help=f"the library to preload (default: {LIBRARY} of this installation)",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _parse(given: Sequence[str]) -> argparse.Namespace:
    """All behind the first -- is the command's."""
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


class _Output:
    """Where the recording goes, and its page."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        """Finds what would fail after the run before it. Raises BadInput, Failure."""
        self.path = Path(arguments.output)
        self.page = None if arguments.html is None else Path(arguments.html)
        for path in (self.path, self.page):
            if path is not None:
                check_output(path)
        if self.page is not None and importlib.util.find_spec("matplotlib") is None:
            raise Failure(f"--html needs matplotlib, {to_install('matplotlib')}")

    def write(self, recording: Mapping[str, Any]) -> None:
        """Raises Failure where the recording, or its page, cannot be written."""
        write_output(self.path, recording_text(recording))
        if self.page is not None:
            from ..report.page import page_of_recording  # takes a second to load

            write_output(self.page, page_of_recording(recording))


def _library(named: str | None) -> Path:
    library = find_library() if named is None else Path(named)
    if library is None:
        raise Failure(f"{LIBRARY} is not there: build it, or name it with --recorder")
    if not library.is_file():
        raise BadInput(f"{one_line(library)}: no such library: name one with --recorder")
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        raise Failure(f"{one_line(error)}: build {LIBRARY} anew") from None
    return library.resolve()


def _say(line: str) -> None:
    """On stderr, as all that asterope-record says: stdout is the command's."""
    tell(PROGRAM, line)


def _record(arguments: argparse.Namespace) -> int:
    program = find_program(arguments.command)
    output = _Output(arguments)
    library = _library(arguments.recorder)
    facts = Facts(
        command=arguments.command,
        executable=os.path.realpath(program.found),
        machine=this_machine(),
        started=time.time(),
    )
    session = Session(facts)
    try:
        environment = environment_with(preloadable(library, session.folder), session.folder)
        try:
            running = Running(program.found, arguments.command, environment)
        except OSError as error:
            raise BadInput(
                f"{one_line(program.found)}: cannot be run: {error.strerror}: name another command"
            ) from None
        with running:
            written = _follow(running, session, output, arguments)
            ended = running.ended
            if not written:
                recording = session.recording(running)
                try:
                    output.write(recording)
                finally:  # what it says is not lost with a disk that is full
                    _show(recording, output)
        assert ended is not None
        if ended.failure:
            _say(f"{ended.failure}: {one_line(output.path)} holds what it copied until then")
        return FAILED if ended.failure else DONE
    finally:
        session.remove()


def _follow(
    running: Running, session: Session, output: _Output, arguments: argparse.Namespace
) -> bool:
    """Until the command ends. Returns whether the duration was over before, so that the recording
    is written. Raises Failure and OSError not before the command has ended."""
    written, failure = False, None
    for event in running.events(arguments.duration):
        if written or failure:
            continue
        session.descendants.look()
        if event is Event.TURN:
            continue
        if event is Event.DURATION:
            session.stop()
        try:
            recording = session.recording(running)
            output.write(recording)
        except (Failure, OSError) as error:
            if event is Event.DURATION:
                failure = error
            else:
                _say(f"{_words_of(error)}: the command goes on and is recorded")
            continue
        if event is Event.DURATION:
            written = True
            session.remove()
            _show(recording, output)
            _say(
                f"recorded for {arguments.duration:g} s: {one_line(output.path)} is written; the "
                "command goes on, and this waits for it"
            )
        else:
            _say(f"{one_line(output.path)} is written; the command goes on and is recorded")
    if failure:
        raise failure
    return written


def _words_of(error: Failure | OSError) -> str:
    return str(error) if isinstance(error, Failure) else f"cannot record: {error.strerror}"


def _show(recording: Mapping[str, Any], output: _Output) -> None:
    if sys.stderr is not None:
        show(answer(recording), sys.stderr)


def _answer(arguments: argparse.Namespace) -> int:
    try:
        return _record(arguments)
    except (BadInput, CannotPreload) as error:
        return fail(PROGRAM, str(error), BAD_INPUT)
    except Failure as error:
        return fail(PROGRAM, str(error), FAILED)
    except OSError as error:
        where = f"{one_line(error.filename)}: " if error.filename else ""
        return fail(PROGRAM, f"{where}{error.strerror}", FAILED)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    return run(PROGRAM, lambda: _answer(arguments))
