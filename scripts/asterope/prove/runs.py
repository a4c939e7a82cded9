"""Whole runs in alternation: a command under libc and under other copies, in turn."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from ..atomic_file import check_output, write_output
from ..command_line import DONE, STALE, tell
from ..faults import BadInput, Failure, one_line
from ..figures import duration_text
from ..modes import modes_told
from ..program import find_program
from ..record.others import check_has_libcs
from ..record.recording import libc_name
from . import programs, run_words
from .copies import (
    LIBC,
    OTHER,
    Copy,
    again,
    check_command,
    check_tunables,
    parse_copies,
    shell_words,
    two_builds,
)
from .document import Setting, document
from .metric import CPU, PATTERN, parse_metric
from .options import DEFAULT_LIBRARY, PROGRAM, UNTOLD
from .places import check_placeholders
from .processes import Run
from .rounds import LEAST_ROUNDS, NARROW, Goal, Rounds, measure
from .runners import Commands, Servers
from .tunables import best_of, with_offers
from .verdicts import SLOWER, UNKNOWN, Finding, judge

# A run that takes so many times as long as the longest first run, and a minute more, hangs.
HANGS = 10
SEED = 1  # of the order within each round


def _built_library() -> str:
    """The library of the current folder's build, else the one that serves all programs. Raises
    BadInput, Failure and OSError."""
    here = Path(DEFAULT_LIBRARY)
    beside = here if here.is_file() else programs.libraries() / programs.PRELOAD
    return str(beside if beside.is_file() else here)


def _setting(arguments: argparse.Namespace) -> Setting:
    """Raises BadInput."""
    metric = parse_metric(arguments.metric, arguments.larger_is_better)
    client = None
    if arguments.client is not None:
        client = shell_words("--client", arguments.client)
        if metric.kind == CPU:
            raise BadInput("--metric cpu is the client's own with --client: use wall or a REGEX")
    check_placeholders([*arguments.command, *(client or [])], client is not None)
    if arguments.against is not None:
        copies = two_builds(arguments.against, arguments.command)
        check_placeholders(copies[0].command or (), has_client=True)
    else:
        named = arguments.copies.split(",") if arguments.copies else [_built_library()]
        copies = parse_copies(named, may_be_libc=arguments.tunables)
    if arguments.tunables:
        copies, lines = with_offers(copies, find_program(arguments.command).loader)
        for line in lines:
            tell(PROGRAM, line)
    until, budget = arguments.until, arguments.time_budget
    if arguments.rounds is None:
        until, budget = until or NARROW, budget or 600.0
    return Setting(
        arguments.command,
        client,
        metric,
        copies,
        Goal(arguments.rounds, until, budget),
        SEED,
        datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        libc_name(),
    )


def _runner(setting: Setting, cpus: Collection[int] | None, stack: ExitStack) -> Commands | Servers:
    """Raises BadInput."""
    command = setting.command
    if setting.copies[0].command is None:
        program = find_program(command)
        command = program.command
        check_has_libcs(program)
        check_tunables(setting.copies, program.loader)
    if setting.client is None:
        return Commands(command, setting.command[0], cpus, setting.metric.kind == PATTERN)
    check_command("--client: ", setting.client[0])  # any program will do, a static one, too
    others = os.sched_getaffinity(0) - set(cpus or ())
    return Servers(stack, setting.command, setting.client, cpus, others if cpus else None)


def _measure(
    setting: Setting, runner: Commands | Servers, rounds: Rounds, line: run_words.ProgressLine
) -> None:
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
        figure_of(copy, first)  # fails now without a figure: later runs would not print it either
        longest = max(longest, first.wall)
    limit = HANGS * longest + 60

    def figure(name: str) -> float:
        one = runner.run(copies[name], limit)
        rounds.times.append((one.wall, one.used))
        return figure_of(copies[name], one)

    goal = setting.goal
    if goal.seconds is not None:  # the first runs are a part of it
        goal = replace(goal, seconds=max(0.0, goal.seconds - (time.monotonic() - began)))
    measure(rounds, list(copies), figure, goal, setting.seed, line.tell)


def _report(setting: Setting, rounds: Rounds, seconds: float, file: str | None) -> int:
    """Prints and writes the findings until now; returns the exit code."""
    count = len(rounds.blocks)
    names = [copy.name for copy in setting.copies]
    until = setting.goal.until or NARROW
    findings = judge(rounds, names, until, setting.client is not None) if count else []
    best, said = None, []
    if findings:
        print(
            f"{setting.metric.words}: {count} rounds of {len(names)} copies in "
            f"{duration_text(seconds)}; {run_words.STOPPED_BY[rounds.stopped_by]}. Ratio above 1: "
            f"better than {setting.base}."
        )
        for copy in setting.copies:
            if copy.name not in (LIBC, again(LIBC), again(OTHER)):
                print(f"{copy.name}: {one_line(copy.description)}")
        print(f"\n{run_words.table(findings, setting.metric)}", flush=True)
        best = best_of(setting.copies, rounds, findings) if setting.has_offers else None
        said = _said(setting, rounds, findings, best)
        for line in said:
            print(line, flush=True)
    if file is not None:
        write_output(Path(file), document(setting, rounds, findings, said, seconds, best))
    if count < LEAST_ROUNDS:
        return UNTOLD
    offers = {copy.name for copy in setting.copies if copy.is_offer}
    if any(one.verdict == SLOWER and one.name not in offers for one in findings):
        return STALE
    return UNTOLD if any(one.verdict == UNKNOWN for one in findings) else DONE


def _said(
    setting: Setting, rounds: Rounds, findings: Sequence[Finding], best: Copy | None
) -> list[str]:
    """The lines below the table."""
    lines = run_words.contradictions(findings, rounds.larger_is_better)
    for copy in setting.copies:
        figures = [dict(block)[copy.name] for block in rounds.blocks]
        lines += modes_told(copy.name, figures, "{:.4g}".format)
    unknown = [one for one in findings if one.verdict == UNKNOWN]
    if len(rounds.blocks) >= LEAST_ROUNDS and any(one.more_rounds is None for one in unknown):
        lines.append("No number of rounds tells: the figure has too few digits.")
    if setting.client is None:
        for copy in filter(None, [setting.copies[0], best]):
            lines += run_words.of_kernel(copy.name, rounds)
    if setting.has_offers:
        lines.append(run_words.what_brings_most(best, bool(unknown), setting.command))
    return lines


def prove_by_runs(arguments: argparse.Namespace) -> int:
    """Raises BadInput and Failure."""
    setting = _setting(arguments)
    if arguments.json is not None:
        check_output(Path(arguments.json))
    rounds = Rounds(setting.metric.larger_is_better, setting.copies[0].name)
    line = run_words.ProgressLine()
    began = time.monotonic()

    def report() -> int:
        line.clear()
        return _report(setting, rounds, time.monotonic() - began, arguments.json)

    try:
        with ExitStack() as stack:
            _measure(setting, _runner(setting, arguments.cpu, stack), rounds, line)
    except (KeyboardInterrupt, Failure) as error:
        rounds.stopped_by = "failure" if isinstance(error, Failure) else "interrupt"
        report()
        raise
    code = report()
    if len(rounds.blocks) < LEAST_ROUNDS:
        tell(
            PROGRAM,
            f"the time was spent after {len(rounds.blocks)} of at least {LEAST_ROUNDS} rounds: "
            "give more --time-budget, or a shorter command",
        )
    return code
