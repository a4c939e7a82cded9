"""The command asterope-prove: a trial inside one run of a command, or whole runs in alternation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..command_line import run
from .options import LIST, MERGE, PROGRAM, REMOVE, parse, parse_kept
from .runs import prove_by_runs
from .supervisor import supervised


def _prove(arguments: argparse.Namespace) -> int:
    if arguments.runs:
        return supervised(lambda: prove_by_runs(arguments))
    # These imports are not above: they need pyelftools, and neither --help nor --runs does.
    from .trial import command, operation

    if arguments.explore is not None:
        operation.explore(arguments)
    return supervised(lambda: command.prove_by_trial(arguments))


def _of_kept(arguments: argparse.Namespace) -> int:
    """Runs a command for kept libraries and maps."""
    from .trial import command, operation

    if arguments.what == LIST:
        return command.list_programs()
    if arguments.what == REMOVE:
        return command.remove_program(arguments.names[0])
    assert arguments.what == MERGE
    return operation.merge(arguments)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    given = sys.argv[1:] if argv is None else list(argv)
    kept = parse_kept(given)
    if kept is not None:
        return run(PROGRAM, lambda: _of_kept(kept))
    arguments = parse(given)
    return run(PROGRAM, lambda: _prove(arguments))
