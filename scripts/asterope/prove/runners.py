"""Runs the command once under a copy: anew each time, or as a client of a server that stays."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ..faults import Failure, one_line
from ..program import called, find_program
from .copies import Copy, missing_library
from .placeholders import Spot, filled, placeholders_in
from .processes import Process, Run, outlived_words

PATIENCE = 60.0  # seconds that a server may take until it answers
LOADING = 2.0  # seconds that it may take until its libraries are there


@contextmanager
def under(copy: Copy, *command: str) -> Iterator[None]:
    """Puts the copy and the command in front of a Failure that comes from within."""
    try:
        yield
    except Failure as error:
        words = [f"under {copy.name}:", *map(one_line, command), str(error)]
        raise Failure(" ".join(words)) from None


@dataclass(frozen=True)
class Commands:
    """Each run is a process of its own. `warm_up` is the first run, which is not counted. It proves
    that the copy is in use, and that the work is done when the command ends. `run` is a later one,
    of at most `limit` s. Both raise Failure. `command` serves copies without a command of their
    own; errors call it `name`. `output`: the figure is a number that the command prints."""

    command: Sequence[str]
    name: str
    cpus: Collection[int] | None
    output: bool

    def warm_up(self, copy: Copy) -> Run:
        program = called(self._name_of(copy))
        with closing(Spot()) as spot:
            # ld.so itself says what it loads, however short the run is.
            trace = spot.folder / "ld.so"
            debug = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(trace)}
            with self._started(copy, debug) as process:
                run = process.wait(None, program)
                text = ""
                with suppress(OSError):  # no ld.so ran, or it did not trust its environment
                    text = Path(f"{trace}.{process.pid}").read_text(errors="replace")
                why = missing_library(copy, re.findall(r"(?m)calling init: (\S+)$", text))
                if why:
                    raise Failure(why)
        # A figure that the command prints holds for its work, even if processes go on.
        if run.outlived_by and not self.output:
            raise Failure(outlived_words(run.outlived_by))
        return run

    def run(self, copy: Copy, limit: float | None) -> Run:
        with self._started(copy, {}) as process:
            return process.wait(limit)

    def _name_of(self, copy: Copy) -> str:
        return copy.command[0] if copy.command else self.name

    @contextmanager
    def _started(self, copy: Copy, more: Mapping[str, str]) -> Iterator[Process]:
        """`more`: variables beside the copy's."""
        with under(copy, self._name_of(copy)), filled(copy.command or self.command) as command:
            environment = {**copy.environment(), **more}
            with closing(Process(command, environment, self.cpus, self.output)) as process:
                yield process


@dataclass(frozen=True)
class Servers:
    """A server for each copy, which runs until the end. Each run is a client's, without a library.
    The class has the same functions as Commands."""

    stack: ExitStack
    server: Sequence[str]
    client: Sequence[str]
    cpus: Collection[int] | None
    client_cpus: Collection[int] | None
    processes: dict[str, tuple[Process, Spot]] = field(default_factory=dict)  # by the copy's name

    def warm_up(self, copy: Copy) -> Run:
        server = copy.command or self.server
        names = placeholders_in(server)
        spot = self.stack.enter_context(closing(Spot(names)))
        words = spot.fill(server)
        command = words if copy.command else find_program(words).command
        with under(copy, server[0]):
            process = Process(command, copy.environment(), self.cpus)
        self.processes[copy.name] = self.stack.enter_context(closing(process)), spot
        deadline, run = time.monotonic() + PATIENCE, None
        while not spot.accepts(names):
            self._wait_a_little(copy, deadline)
        while run is None:
            try:
                run = self.run(copy, None)
            except Failure:
                if names & {"port", "socket"} or time.monotonic() > deadline:
                    raise
                self._wait_a_little(copy, deadline)
        # Without a placeholder, this may look at a server whose ld.so still loads libraries.
        begun = time.monotonic()
        while why := missing_library(copy, _mapped(process.pid)):
            if time.monotonic() - begun > LOADING:
                self._fail(copy, why)
            time.sleep(0.02)
        return run

    def _wait_a_little(self, copy: Copy, deadline: float) -> None:
        self._check(copy)
        if time.monotonic() > deadline:
            self._fail(copy, f"accepts nobody after {PATIENCE:.0f} s")
        time.sleep(0.02)

    def run(self, copy: Copy, limit: float | None) -> Run:
        _, spot = self.processes[copy.name]
        command, environment = spot.fill(self.client), Copy("client").environment()
        try:
            with under(copy, command[0]):
                client = Process(command, environment, self.client_cpus, keep_output=True)
                with closing(client):
                    run = client.wait(limit)
        except Failure:
            self._check(copy)  # a client also fails if its server has ended
            raise
        self._check(copy)
        return run

    def _check(self, copy: Copy) -> None:
        process, _ = self.processes[copy.name]
        if process.has_ended():
            self._fail(copy, process.how_it_ended())

    def _fail(self, copy: Copy, why: str) -> NoReturn:
        with under(copy, (copy.command or self.server)[0]):
            raise Failure(why)


def _mapped(pid: int) -> list[str]:
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return []
    files = {fields[5] for fields in (line.split(maxsplit=5) for line in lines) if len(fields) == 6}
    return [file for file in files if os.path.isabs(file)]
