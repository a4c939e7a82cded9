"""The command line of asterope-prove: its options and their checks."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence

from ..arguments import duration, whole_number
from ..command_line import Parser
from .placeholders import placeholders_in
from .rounds import LEAST_ROUNDS

PROGRAM = "asterope-prove"
UNTOLD = 4  # exit code: not enough was seen to tell
DEFAULT_LIBRARY = "build/libasterope_preload.so"
MOST_ROUNDS = 10_000  # the least is LEAST_ROUNDS, as fewer give no interval
# The commands for results that are kept under names. A program of such a name runs as: -- list.
MERGE, LIST, REMOVE = "merge", "list", "remove"
_OF_KEPT = {
    MERGE: "Tells the findings of --explore in all processes of these names until now.",
    LIST: "Lists the programs whose maps, libraries and figures are kept.",
    REMOVE: "Removes all that is kept under a name.",
}
# The options of whole runs; any of them implies --runs.
_OF_RUNS = (
    *("rounds", "until", "time_budget", "metric", "larger_is_better", "copies", "against"),
    *("client", "tunables"),
)
# The options of the trial.
_OF_TRIAL = ("time", "copy", "write", "routine", "name", "explore", "finalists")


def _percent(text: str) -> float:
    found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%?", text)
    if not found or not 0.01 <= float(found[1]) <= 100:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a part from 0.01 to 100: write 1%")
    return float(found[1]) / 100


def _cpus(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part)
        if not match:
            raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a CPU: write 1 or 0-3,6")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise argparse.ArgumentTypeError(f"{part} is backwards: write {last}-{first}")
        found |= set(range(first, last + 1))
    if missing := found - os.sched_getaffinity(0):
        raise argparse.ArgumentTypeError(
            f"{min(missing)} is not there or not allowed to this process"
        )
    return frozenset(found)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [OPTIONS] -- COMMAND...",
        description="Tells whether the routine makes a program faster, where, and how surely. In "
        "one run of COMMAND, its copies take libc, the routine and its entry points in turn, in "
        "an order drawn at random. The time until the next copy counts for the way taken. A short "
        "program is run again. With --runs, or an option for whole runs, these alternate instead, "
        "under libc and other copies. They suit programs that measure themselves, servers, and "
        "checks of the trial. In COMMAND, {folder} stands for an empty folder, but not with "
        "--explore. With --client, {port} and {socket} stand for those of this copy's server.",
        epilog=f"{PROGRAM} list, {PROGRAM} remove NAME and {PROGRAM} merge NAME handle the results "
        "that --name keeps. Exit codes: 0 told, and the program is not slower; 1 a run failed; 2 "
        "bad arguments, or a command that takes no preloaded library; 3 the program is slower with "
        "the routine, or with a copy: leave it, or tune again; 4 not enough was seen to tell; 130 "
        "interrupted, with the findings until then.",
    )
    parser.add_argument(
        "command",
        metavar="COMMAND",
        nargs="+",
        help="the program to run, with its arguments; with --client, the server",
    )
    parser.add_argument(
        "--time",
        metavar="TIME",
        type=duration,
        help="try for so long at most, then end the command; --name tries its map for as long "
        "again (default: 30s)",
    )
    parser.add_argument(
        "--copy",
        metavar="NAME=SO[:SYMBOL]",
        action="append",
        help="try this library's memcpy, or its function SYMBOL, too; may be given several times",
    )
    parser.add_argument(
        "--finalists",
        action="store_true",
        help="try the copies that came second, third and fourth in the race of each size, too",
    )
    parser.add_argument(
        "--routine",
        metavar="SO",
        help="the library that has the routine (default: the one that scripts/tune built)",
    )
    parser.add_argument(
        "--write",
        metavar="PLACES",
        help="write the map of places where another way is surely better than the routine, for "
        "asterope-generate --places",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="keep a library for this program under that name: the routine, with the best way for "
        "each place; then try it as a whole",
    )
    parser.add_argument(
        "--explore",
        metavar="N",
        type=whole_number(2, 65536),
        help="with --name: run COMMAND in operation: one part of N of its time is a trial, and the "
        "rest takes the best ways so far; asterope-prove merge NAME tells the findings",
    )
    parser.add_argument(
        "--runs", action="store_true", help="try whole runs in alternation, not a trial inside one"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--rounds",
        metavar="N",
        type=whole_number(LEAST_ROUNDS, MOST_ROUNDS),
        help="run so many rounds instead of --until",
    )
    length.add_argument(
        "--until",
        metavar="PERCENT",
        type=_percent,
        help="run until each copy is faster or slower, or its interval reaches no further than "
        "that from its ratio (default: 1%%)",
    )
    parser.add_argument(
        "--time-budget",
        metavar="TIME",
        type=duration,
        help="stop after that time, such as 90s or 10m (default: 10m; with --rounds no limit)",
    )
    parser.add_argument(
        "--metric",
        metavar="wall|cpu|REGEX",
        help="compare the wall-clock time, the CPU time of the command and its children, or the "
        "number in the first parentheses of REGEX; its last match in stdout and then stderr "
        "counts (default: wall)",
    )
    parser.add_argument(
        "--larger-is-better",
        action="store_true",
        help="the number of REGEX is a speed, not a time",
    )
    parser.add_argument(
        "--copies",
        metavar="FILES",
        help="the copies to compare with libc, separated by commas: FILE.so or NAME=FILE.so for a "
        "library to preload, NAME=GLIBC_TUNABLES=... for libc with these (default: "
        f"libc,{DEFAULT_LIBRARY})",
    )
    parser.add_argument(
        "--tunables",
        action="store_true",
        help="try glibc's remedies for page faults, too, alone and with each library: memory in "
        "huge pages, and memory that is kept for the next time; then name the fastest copy "
        "(--copies libc: without a library)",
    )
    parser.add_argument(
        "--against",
        metavar="OTHER",
        help="compare whole runs of COMMAND with those of another build, without any library; "
        "OTHER is a program, which gets the same arguments, or a whole command in quotes",
    )
    parser.add_argument(
        "--client",
        metavar="COMMAND",
        help="COMMAND... is a server that is started once for each copy, and stays; run this "
        "client against each in turn, without any library (a whole command in quotes)",
    )
    parser.add_argument("--json", metavar="FILE", help="write all findings and figures there")
    parser.expert.add_argument(
        "--cpu",
        metavar="LIST",
        type=_cpus,
        help="run the command on these CPUs, such as 1 or 0-3,6; a client runs on the others, "
        "if there are any",
    )
    return parser


def _parse_kept(what: str, argv: Sequence[str]) -> argparse.Namespace:
    """Parses a command for results that are kept under names."""
    parser = Parser(prog=f"{PROGRAM} {what}", description=_OF_KEPT[what])
    if what != LIST:
        parser.add_argument("names", metavar="NAME", nargs="+" if what == MERGE else 1)
    if what == MERGE:
        parser.add_argument("--json", metavar="FILE", help="write all findings there")
        parser.add_argument("--write", metavar="PLACES", help="write the map of places there")
        parser.add_argument(
            "--forget",
            action="store_true",
            help="then remove the figures of processes that have ended: the next merge begins anew",
        )
    parser.set_defaults(what=what)
    return parser.parse_args(argv)


def _is_given(arguments: argparse.Namespace, name: str) -> bool:
    """Even with nothing behind it."""
    return getattr(arguments, name) not in (None, False)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """`what` of the result: the command for kept results; None: the command line tries a program.
    Bad arguments leave through SystemExit(2)."""
    if argv and argv[0] in _OF_KEPT:
        return _parse_kept(argv[0], argv[1:])
    parser = _parser()
    parser.set_defaults(what=None)
    arguments = parser.parse_args(argv)
    runs, trial = (
        [name for name in of if _is_given(arguments, name)] for of in (_OF_RUNS, _OF_TRIAL)
    )
    arguments.runs = arguments.runs or bool(runs)
    if arguments.runs and trial:
        asked = f"--{runs[0].replace('_', '-')}" if runs else "--runs"
        parser.error(f"--{trial[0]} is the trial's, and {asked} asks for whole runs instead")
    if arguments.explore is not None:
        if arguments.name is None:
            parser.error("--explore keeps its figures under a name: give it a --name")
        for name in ("finalists", "time", "cpu", "write", "json"):
            if _is_given(arguments, name):
                merge = ", or give it to asterope-prove merge" * (name in ("write", "json"))
                parser.error(f"--{name} is not for --explore: leave it out{merge}")
        for name in placeholders_in(arguments.command):
            parser.error(f"--explore does not fill in {{{name}}}, as it becomes the command")
    if arguments.name is not None and arguments.routine is not None and not arguments.explore:
        parser.error("--name is for the routine that scripts/tune built: leave out --routine")
    if arguments.against is not None and arguments.copies is not None:
        parser.error("--copies are libraries, and --against compares two builds without any")
    if arguments.against is not None and arguments.tunables:
        parser.error("--tunables are tried with one build, and --against compares two")
    return arguments
