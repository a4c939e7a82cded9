"""Whole runs in alternation: a command under libc and under other copies, in turn."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from ..atomic_file import check_output, refuse_loss
from ..command_line import tell
from ..faults import BadInput, Failure
from ..program import find_program
from ..record.others import check_has_libcs
from ..record.recording import libc_name
from . import programs
from .copies import (
    check_command,
    check_tunables,
    parse_copies,
    shell_words,
    two_builds,
    with_offers,
)
from .options import DEFAULT_LIBRARY, PROGRAM
from .placeholders import check_placeholders
from .rounds import CPU, LEAST_ROUNDS, NARROW, PATTERN, WALL, Goal, Rounds, measure, parse_metric
from .run_words import Setting, progress, report, rounds_progress
from .runners import Commands, Servers, under

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
    """Raises BadInput, Failure and OSError."""
    metric = parse_metric(
        WALL if arguments.metric is None else arguments.metric, arguments.larger_is_better
    )
    client = None
    if arguments.client is not None:
        client = shell_words("--client", arguments.client)
        if metric.kind == CPU:
            raise BadInput("--metric cpu is the client's own with --client: use wall or a REGEX")
    check_placeholders([*arguments.command, *(client or [])], client is not None)
    if arguments.against is not None:
        copies = two_builds(arguments.against, arguments.command)
        check_placeholders(copies[0].command or (), client is not None)
    else:
        named = [_built_library()] if arguments.copies is None else arguments.copies.split(",")
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


def _measure(setting: Setting, runner: Commands | Servers, rounds: Rounds) -> None:
    """Raises Failure."""
    copies = {copy.name: copy for copy in setting.copies}
    longest, began = 0.0, time.monotonic()
    for number, copy in enumerate(setting.copies, 1):
        progress(f"first run {number} of {len(copies)}, which is not counted: {copy.name}")
        first = runner.warm_up(copy)
        with under(copy):
            setting.metric.of(first)  # fails now without a figure, as later runs would, too
        longest = max(longest, first.wall)
    limit = HANGS * longest + 60

    def figure(name: str) -> float:
        one = runner.run(copies[name], limit)
        rounds.times.append((one.wall, one.used))
        with under(copies[name]):
            return setting.metric.of(one)

    goal = setting.goal
    if goal.seconds is not None:  # the first runs are a part of it
        goal = replace(goal, seconds=max(0.0, goal.seconds - (time.monotonic() - began)))
    measure(rounds, list(copies), figure, goal, setting.seed, rounds_progress)


def prove_by_runs(arguments: argparse.Namespace) -> int:
    """Raises BadInput and Failure."""
    setting = _setting(arguments)
    if arguments.json is not None:
        check_output(Path(arguments.json))
        for copy in setting.copies:
            if copy.library is not None:
                refuse_loss(arguments.json, copy.library, "the library", "--json")
    has_servers = setting.client is not None
    rounds = Rounds(setting.metric.larger_is_better, setting.copies[0].name, has_servers)
    began = time.monotonic()

    def shown() -> int:
        progress()
        return report(setting, rounds, time.monotonic() - began, arguments.json)

    try:
        with ExitStack() as stack:
            _measure(setting, _runner(setting, arguments.cpu, stack), rounds)
    except (KeyboardInterrupt, Failure) as error:
        rounds.stopped_by = "failure" if isinstance(error, Failure) else "interrupt"
        shown()
        raise
    code = shown()
    if len(rounds.done) < LEAST_ROUNDS:
        tell(
            PROGRAM,
            f"the time was spent after {len(rounds.done)} of at least {LEAST_ROUNDS} rounds: "
            "give more --time-budget, or a shorter command",
        )
    return code
