"""The command asterope-placement: does it matter where buffers are, and which -O compiled?"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import __version__
from ..command_line import DONE, Parser, run, show, tell, to_install
from ..faults import BadInput, Failure
from ..one_line import one_line
from ..output_file import write_output
from . import experiment, segments, words

PROGRAM = "asterope-placement"
MOST_SIZES, MOST_ROUNDS = 16, 10_000
SEED = 1  # of the orders: the same in every run


def _sizes(text: str) -> list[int]:
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,7})([KkM]?)", part)
        size = int(match[1]) << {"": 0, "K": 10, "k": 10, "M": 20}[match[2]] if match else 0
        if not 1 <= size <= experiment.LARGEST:
            raise argparse.ArgumentTypeError(
                f"'{part[:40]}' is no size from 1 to 1M: write bytes, or a number with K or M"
            )
        sizes.append(size)
    if len(sizes) > MOST_SIZES:
        raise argparse.ArgumentTypeError(f"more than {MOST_SIZES} sizes")
    return sorted(set(sizes))


def _whole(least: int, most: int):
    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text[:40]}' is no whole number from {least} to {most}"
            )
        return int(text)

    return parse


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description="Times a routine that is compiled by gcc and clang at -O0 to -O3, and libc's, "
        "with source and destination on the heap, in the data segment, in .bss and on the stack: "
        "every combination, interleaved in one process. The verdict is a finding, no exit code.",
        epilog="Exit codes: 0 done; 1 failed while building, timing or writing; 2 bad arguments or "
        "a routine that does not compile; 130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "routine",
        metavar="ROUTINE.c",
        nargs="?",
        default="generated/asterope_memcpy.c",
        help="what asterope-generate wrote (default: %(default)s)",
    )
    parser.add_argument(
        "--segments",
        action="store_true",
        help="instead: time loops whose arrays are in the data segment, and the same loops whose "
        "arrays are on the heap (copy, fill, matrix product), at all of these levels",
    )
    parser.add_argument("--csv", metavar="FILE", help="write every cell there")
    parser.add_argument("--plot", metavar="FILE.png", help="write the picture (needs matplotlib)")
    parser.add_argument(
        "--sizes",
        metavar="LIST",
        type=_sizes,
        default="256,4K,64K,1M",
        help="transfer sizes, at most 1M (default: %(default)s)",
    )
    parser.expert.add_argument(
        "--rounds",
        metavar="N",
        type=_whole(1, MOST_ROUNDS),
        default=31,
        help="rounds, each with every cell once (default: %(default)s)",
    )
    parser.expert.add_argument("--cpu", metavar="N", type=_whole(0, 65535), help="CPU to run on")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _time(
    routine: Path, compilers: Sequence[str], arguments: argparse.Namespace, cpu: int
) -> tuple[list[experiment.Build], list[experiment.Trial]]:
    """Raises BadInput and Failure."""
    allowed = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        builds = experiment.build_all(routine, compilers, Path(folder))
        driver = experiment.build_driver(compilers[0], Path(folder))
        os.sched_setaffinity(0, {cpu})  # the driver inherits it
        try:
            return builds, experiment.time_all(
                driver, builds, arguments.sizes, arguments.rounds, SEED
            )
        finally:
            os.sched_setaffinity(0, allowed)


def _time_segments(compilers: Sequence[str], rounds: int, cpu: int) -> int:
    allowed = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        try:
            programs = segments.build_all(compilers, Path(folder))
            os.sched_setaffinity(0, {cpu})  # the programs inherit it
            timed = segments.time_all(programs, rounds, random.Random(SEED))
        finally:
            os.sched_setaffinity(0, allowed)
    show(f"{len(programs)} programs of {len(compilers)} compilers, {rounds} rounds, CPU {cpu}\n")
    show(segments.words(segments.analyse(timed)))
    return DONE


def _run(arguments: argparse.Namespace) -> int:
    routine = Path(arguments.routine)
    if not arguments.segments and not routine.is_file():
        raise BadInput(f"{one_line(routine)}: no such file: run asterope-generate first")
    if arguments.segments and (arguments.csv or arguments.plot):
        raise BadInput("--segments writes no file: leave out --csv and --plot")
    draw = None
    if arguments.plot is not None:
        try:
            from . import picture as draw
        except ImportError as error:
            raise Failure(f"--plot needs {error.name}, {to_install('matplotlib')}") from None
    cpu = max(os.sched_getaffinity(0)) if arguments.cpu is None else arguments.cpu
    if cpu not in os.sched_getaffinity(0):
        raise BadInput(f"--cpu {cpu}: this process may not run there")
    compilers = experiment.find_compilers()
    if not compilers:
        raise Failure(f"found none of {', '.join(experiment.COMPILERS)}: install one")
    for name in experiment.COMPILERS:
        if name not in compilers:
            tell(PROGRAM, f"left out: {name}, which is not installed")
    if arguments.segments:
        return _time_segments(compilers, arguments.rounds, cpu)
    try:
        builds, trials = _time(routine.resolve(), compilers, arguments, cpu)
    except (BadInput, Failure) as error:
        raise type(error)(f"{one_line(routine)}: {one_line(error)}") from None
    results = experiment.analyse(trials)
    show(
        f"{one_line(routine)}: {len(builds)} builds, {len(experiment.PLACES) ** 2} placements, "
        f"{len(arguments.sizes)} sizes, {arguments.rounds} rounds, CPU {cpu}\n"
    )
    show(words.tables(results, builds))
    show("")
    show(words.verdict(results, builds))
    files: dict[str, str | bytes] = {}
    if arguments.csv is not None:
        files[arguments.csv] = words.csv_text(results, builds)
    if draw is not None:
        files[arguments.plot] = draw.png(draw.draw(results, builds))
    for name, content in files.items():
        write_output(Path(name), content)
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parser().parse_args(argv)
    return run(PROGRAM, lambda: _run(arguments))
