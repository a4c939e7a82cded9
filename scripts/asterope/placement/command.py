"""The command asterope-placement: does it matter where arrays are, and which -O compiled?"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..arguments import whole_number
from ..command_line import DONE, Parser, run, show, tell
from ..faults import BadInput, Failure, one_line
from . import segments

PROGRAM = "asterope-placement"
SEED = 1  # of the orders: the same in every run


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description="Times loops whose arrays are in the data segment, and the same loops whose "
        "arrays are on the heap (copy, fill, matrix product, libc's memcpy, the routine), compiled "
        "by gcc and clang at -O0 to -O3. The verdict is a finding, no exit code.",
        epilog="Exit codes: 0 done; 1 no compiler, or failed while timing; 2 bad arguments, or "
        "the programs do not compile; 130 interrupted.",
    )
    parser.add_argument(
        "routine",
        metavar="ROUTINE.c",
        nargs="?",
        default="generated/asterope_memcpy.c",
        help="what asterope-generate wrote (default: %(default)s)",
    )
    parser.expert.add_argument(
        "--rounds",
        metavar="N",
        type=whole_number(1, 10_000),
        default=31,
        help="rounds, each with every program once (default: %(default)s)",
    )
    parser.expert.add_argument(
        "--cpu", metavar="N", type=whole_number(0, 65535), help="CPU to run on"
    )
    return parser


def _run(arguments: argparse.Namespace) -> int:
    routine, allowed = Path(arguments.routine), os.sched_getaffinity(0)
    if not routine.is_file():
        what = "a folder" if routine.is_dir() else "no such file"
        raise BadInput(f"{one_line(routine)}: {what}: name a file of asterope-generate")
    cpu = max(allowed) if arguments.cpu is None else arguments.cpu
    if cpu not in allowed:
        raise BadInput(f"--cpu {cpu}: this process may not run there")
    compilers = [name for name in segments.COMPILERS if shutil.which(name)]
    if not compilers:
        raise Failure(f"found none of {', '.join(segments.COMPILERS)}: install one")
    for name in segments.COMPILERS:
        if name not in compilers:
            tell(PROGRAM, f"left out: {name}, which is not installed")
    with tempfile.TemporaryDirectory() as folder:
        try:
            programs = segments.build_all(routine.resolve(), compilers, Path(folder))
            os.sched_setaffinity(0, {cpu})  # the programs inherit it
            timed = segments.time_all(programs, arguments.rounds, random.Random(SEED))
        except (BadInput, Failure) as error:
            raise type(error)(f"{one_line(routine)}: {one_line(error)}") from None
        finally:
            os.sched_setaffinity(0, allowed)
    show(f"{len(programs)} programs of {len(compilers)} compilers, {len(timed)} rounds, CPU {cpu}")
    show(f"\n{segments.words(segments.analyse(timed))}")
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parser().parse_args(argv)
    return run(PROGRAM, lambda: _run(arguments))
