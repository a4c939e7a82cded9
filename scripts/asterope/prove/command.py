"""The command asterope-prove: a trial inside one run of a command, or whole runs in alternation."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..command_line import BAD_INPUT, FAILED, fail, run
from ..faults import BadInput, Failure
from ..one_line import one_line
from .options import PROGRAM, parse
from .runs import prove_by_runs
from .supervisor import supervised


def _prove_by_trial(arguments: argparse.Namespace) -> int:
    # Not above: it reads libraries by pyelftools, which neither --help nor --runs needs.
    from .trial.command import prove_by_trial

    return prove_by_trial(arguments)


def _answer(arguments: argparse.Namespace) -> int:
    prove = prove_by_runs if arguments.runs else _prove_by_trial
    try:
        return supervised(lambda: prove(arguments))
    except BadInput as error:
        return fail(PROGRAM, str(error), BAD_INPUT)
    except (Failure, OSError) as error:
        return fail(PROGRAM, one_line(error), FAILED)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = parse(argv)
    return run(PROGRAM, lambda: _answer(arguments))
