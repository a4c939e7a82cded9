"""The command asterope-prove: a trial inside one run of a command, or whole runs in alternation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..command_line import run
from .options import LIST, MERGE, PROGRAM, REMOVE, parse
from .processes import supervised
from .runs import prove_by_runs


def _prove(arguments: argparse.Namespace) -> int:
    if arguments.what is None and arguments.runs:
        return supervised(lambda: prove_by_runs(arguments))
    # These imports are not above: they need pyelftools, and neither --help nor --runs does.
    from .trial import command

    if arguments.what == LIST:
        return command.list_programs()
    if arguments.what == REMOVE:
        return command.remove_program(arguments.names[0])
    if arguments.what == MERGE:
        return command.merge(arguments)
    if arguments.explore is not None:
        command.explore(arguments)  # never returns: it becomes the command
    return supervised(lambda: command.prove_by_trial(arguments))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = parse(sys.argv[1:] if argv is None else list(argv))
    return run(PROGRAM, lambda: _prove(arguments))
