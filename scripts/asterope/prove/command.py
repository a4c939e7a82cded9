"""The command asterope-prove: a command under libc and under other copies, in turn."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import shutil
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from .. import __version__
from ..atomic_file import write_files
from ..command_line import BAD_INPUT, DONE, FAILED, STALE, Parser, fail, run
from ..duration import duration
from ..faults import BadInput, Failure
from ..one_line import one_line
from ..program import CannotPreload, find_program
from . import words
from .copies import LIBCS, Copy, check_tunables, parse_copies
from .document import Setting, document
from .metric import CPU, PATTERN, parse_metric
from .places import check_placeholders, placeholders_in
from .processes import Run
from .rounds import LEAST_ROUNDS, Goal, Rounds, measure
from .runners import Commands, Runner, Servers
from .supervisor import supervised
from .verdicts import SLOWER, judge

PROGRAM = "asterope-prove"
DEFAULT_LIBRARY = "build/libasterope_preload.so"
MOST_ROUNDS = 10_000
# A run that takes so many times as long as the longest first run, and a minute more, hangs.
HANGS = 10


def _rounds(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not LEAST_ROUNDS <= int(text) <= MOST_ROUNDS:
        raise argparse.ArgumentTypeError(
            f"rounds are {LEAST_ROUNDS} to {MOST_ROUNDS}: of fewer there is no 95 % interval"
        )
    return int(text)


def _percent(text: str) -> float:
    found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%?", text)
    if not found or not 0.01 <= float(found[1]) <= 100:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no part from 0.01 to 100: write 1%")
    return float(found[1]) / 100


def _cpus(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part)
        if not match:
            raise argparse.ArgumentTypeError(f"'{text[:40]}' is no CPU: write 1 or 0-3,6")
        found |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    missing = found - os.sched_getaffinity(0)
    if missing or not found:
        which = min(missing, default=text)
        raise argparse.ArgumentTypeError(f"{which} is not there or not allowed to this process")
    return frozenset(found)


def _seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no whole number from 0 on")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [OPTIONS] -- COMMAND...",
        description="Runs a command alternately under libc, libc again and other copies, in "
        "shuffled blocks that have each copy once, and says of each copy: faster, slower, or no "
        "difference above so many percent. Ratios are libc's figure over the copy's within a "
        "block, their median with its 95 % interval; libc against itself is the noise floor. "
        "In COMMAND, {folder} stands for an empty folder, and with --client {port} and {socket} "
        "for those of this copy's server.",
        epilog="Exit codes: 0 measured, and no copy is slower than libc; 1 a run failed, or too "
        "few rounds to say; 2 bad arguments, or a command that takes no preloaded library; 3 a "
        "copy is slower than libc beyond the noise floor: tune again; 130 interrupted, after the "
        "table of what is known until then.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "command",
        metavar="COMMAND",
        nargs="+",
        help="what to run, with its arguments; with --client the server",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--rounds", metavar="N", type=_rounds, help="run so many rounds instead of --until"
    )
    length.add_argument(
        "--until",
        metavar="PERCENT",
        type=_percent,
        help="run until all intervals reach no further than that from their ratio (default: 1%%)",
    )
    parser.add_argument(
        "--time-budget",
        metavar="TIME",
        type=duration,
        help="stop after that, such as 90s or 10m (default: 10m, with --rounds none)",
    )
    parser.add_argument(
        "--metric",
        metavar="wall|cpu|REGEX",
        default="wall",
        help="what is compared: the wall-clock time, the CPU time of the command and its children, "
        "or the number in the first parentheses of REGEX, where it last matches the output, "
        "stdout first (default: %(default)s)",
    )
    parser.add_argument(
        "--larger-is-better",
        action="store_true",
        help="of REGEX: it is a speed, not a time",
    )
    parser.add_argument(
        "--copies",
        metavar="FILES",
        help="what to compare with libc, separated by commas: FILE.so or NAME=FILE.so for a "
        "library to preload, NAME=GLIBC_TUNABLES=... for libc with these, NAME=LOADER"
        "[:LIBRARY_FOLDER] for another libc that runs the command through its own "
        f"ld-linux-*.so (default: libc,{DEFAULT_LIBRARY})",
    )
    parser.add_argument(
        "--client",
        metavar="COMMAND",
        help="COMMAND... is a server, started once for each copy, which stays; run this instead "
        "against each in turn, without any library (one word for the shell, in quotes)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the figure of every run there")
    parser.expert.add_argument(
        "--cpu",
        metavar="LIST",
        type=_cpus,
        help="run the command on these CPUs, such as 1 or 0-3,6; a client runs on the others, "
        "where there are some",
    )
    parser.expert.add_argument(
        "--seed",
        metavar="N",
        type=_seed,
        default=1,
        help="of the order within each block (default: %(default)s)",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _setting(arguments: argparse.Namespace) -> Setting:
    """Raises BadInput."""
    metric = parse_metric(arguments.metric, arguments.larger_is_better)
    client = None
    if arguments.client is not None:
        try:
            client = shlex.split(arguments.client)
        except ValueError as error:
            raise BadInput(f"--client: {one_line(error)}") from None
        if not client:
            raise BadInput("--client names no command")
        if metric.kind == CPU:
            raise BadInput("--metric cpu is the client's own with --client: use wall or a REGEX")
    check_placeholders([*arguments.command, *(client or [])])
    if client is None and placeholders_in(arguments.command) - {"folder"}:
        raise BadInput("{port} and {socket} are a server's: name its client with --client")
    copies = (arguments.copies or DEFAULT_LIBRARY).split(",")
    until, budget = arguments.until, arguments.time_budget
    if arguments.rounds is None:
        until, budget = until or 0.01, budget or 600.0
    return Setting(
        arguments.command,
        client,
        metric,
        parse_copies(copies),
        Goal(arguments.rounds, until, budget),
        arguments.seed,
        datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        " ".join(platform.libc_ver()).strip() or "unknown",
    )


def _runner(setting: Setting, cpus: Collection[int] | None, stack: ExitStack) -> Runner:
    """Raises BadInput."""
    try:
        program = find_program(setting.command)
        check_tunables(setting.copies, program.loader)
        if setting.client is None:
            return Commands(program, setting.command[0], cpus, setting.metric.kind == PATTERN)
    except CannotPreload as error:
        raise BadInput(str(error)) from None
    if shutil.which(setting.client[0]) is None:  # any program will do, a static one, too
        raise BadInput(f"--client: {one_line(setting.client[0])}: no such command")
    others = os.sched_getaffinity(0) - set(cpus or ())
    return Servers(stack, setting.command, setting.client, (cpus, others if cpus else None))


def _measure(setting: Setting, runner: Runner, rounds: Rounds, line: words.ProgressLine) -> None:
    """Raises Failure."""
    copies = {copy.name: copy for copy in setting.copies}

    def figure_of(copy: Copy, one: Run) -> float:
        try:
            return setting.metric.of(one)
        except Failure as error:
            raise Failure(f"under {copy.name}: {error}") from None

    longest, began = 0.0, time.monotonic()
    for number, copy in enumerate(setting.copies, 1):
        line.say(f"first run {number} of {len(copies)}, which is not counted: {copy.name}")
        first = runner.warm_up(copy)
        figure_of(copy, first)  # what it does not print now, it will not print later
        longest = max(longest, first.wall)
    limit = HANGS * longest + 60

    def figure(name: str) -> float:
        return figure_of(copies[name], runner.run(copies[name], limit))

    goal = setting.goal
    if goal.seconds is not None:  # the first runs are a part of it
        goal = replace(goal, seconds=max(0.0, goal.seconds - (time.monotonic() - began)))
    measure(rounds, list(copies), figure, goal, setting.seed, line.tell)


def _report(setting: Setting, rounds: Rounds, seconds: float, file: str | None) -> int:
    """Prints and writes what is known; returns the exit code."""
    count = len(rounds.blocks)
    names = [copy.name for copy in setting.copies]
    findings = judge(rounds, names) if count else None
    if findings:
        print(
            f"{setting.metric.words}: {count} rounds of {len(names)} copies in "
            f"{words.duration(seconds)}; {words.STOPPED_BY[rounds.stopped_by]}. Ratio above 1: "
            f"better than {setting.libc}."
        )
        for copy in setting.copies:
            if copy.name not in LIBCS:
                print(f"{copy.name}: {one_line(copy.description)}")
        print(f"\n{words.table(findings, setting.metric)}", flush=True)
    if file is not None:
        path = Path(file)
        text = document(setting, rounds, findings, seconds)
        write_files(path.parent, {path.name: text})
    if findings is None or count < LEAST_ROUNDS:
        return FAILED
    return STALE if any(one.verdict == SLOWER for one in findings.compared) else DONE


def _run(arguments: argparse.Namespace) -> int:
    setting = _setting(arguments)
    rounds = Rounds(setting.metric.larger_is_better)
    line = words.ProgressLine(sys.stderr)
    began = time.monotonic()

    def report() -> int:
        line.clear()
        return _report(setting, rounds, time.monotonic() - began, arguments.json)

    try:
        with ExitStack() as stack:
            _measure(setting, _runner(setting, arguments.cpu, stack), rounds, line)
    except KeyboardInterrupt:
        rounds.stopped_by = "interrupt"
        report()
        raise
    except Failure:
        rounds.stopped_by = "failure"
        report()
        raise
    code = report()
    if code == FAILED:
        return fail(
            PROGRAM,
            f"the time was spent after {len(rounds.blocks)} of at least {LEAST_ROUNDS} rounds: "
            "give more --time-budget, or a shorter command",
            FAILED,
        )
    return code


def _answer(arguments: argparse.Namespace) -> int:
    try:
        return supervised(lambda: _run(arguments))
    except BadInput as error:
        return fail(PROGRAM, str(error), BAD_INPUT)
    except (Failure, OSError) as error:
        return fail(PROGRAM, one_line(error), FAILED)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parser().parse_args(argv)
    return run(PROGRAM, lambda: _answer(arguments))
