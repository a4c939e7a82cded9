"""Measures one program of the survey by asterope-record and asterope-prove, and reads the JSON that
these write."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asterope.faults import Failure, one_line
from asterope.preload_link import preloadable
from asterope.prove.processes import Run
from asterope.record.kernel import Used
from installing import Installation, run
from programs import Program

MIB = 1 << 20
# Nothing is tried where copies take less of the CPU time: no user would notice the gain.
LEAST_SHARE = 0.02
# Below this part of a program's bytes, libc's copies do not matter: other code moves them.
LEAST_TIMES = 0.1
# New pages are a cost where the kernel takes that share of the CPU time, with so many faults for
# each MiB that is moved. A huge page has one for 2 MiB, small ones have 256 for 1 MiB.
KERNEL_SHARE, LEAST_FAULTS = 0.2, 0.5
LONGEST = 600  # seconds for a command of ours or a driver
ROUTINE, PRELOAD = "libasterope_memcpy.so", "libasterope_preload.so"  # in the build's folder


def result_of(output: str) -> str:
    """The result that a driver prints: CHECKSUM BYTES. Raises Failure."""
    found = re.findall(r"^result (\S+ \d+)\s*$", output, re.MULTILINE)
    if not found:
        raise Failure("the driver prints no result")
    return found[-1]


class Measurement:
    """`options`: the survey's."""

    def __init__(self, program: Program, options: argparse.Namespace) -> None:
        self._program, self._options = program, options
        self._installed = Installation(options.folder)
        self._preload = options.build / PRELOAD
        self._folder = options.folder / "figures" / program.name  # takes the JSON of the commands
        self._folder.mkdir(parents=True, exist_ok=True)

    def row(self, say: Callable[[str], None]) -> dict[str, Any]:
        """Measures the whole row, and tells `say` each step. Raises Failure."""
        say("installing")
        self._command, versions = self._installed.prepare(self._program)
        self._environment = self._installed.environment(self._program)
        say("choosing the count")
        count = self._count()
        cost = self._cost(count)
        command = [*self._command, str(count)]
        found = {"versions": versions, "count": count, **cost}
        say("recording")
        try:
            recording = self._json("record", command, "-o", self._folder / "recording.json")
        except Failure as error:
            reason = str(error).rpartition("asterope-record: ")[2]
            return {**found, "refused": one_line(reason.replace(f"{command[0]}: ", ""))}
        found["recording"] = recorded(recording, cost["moved"])
        of, places = found["recording"], self._folder / "places.json"
        places.unlink(missing_ok=True)
        by_libc = of["times"] >= LEAST_TIMES and (of["share"] or 0) >= LEAST_SHARE
        if by_libc:
            say("trying inside")
            options = ["--time", f"{self._options.time:g}s", "--write", places]
            options += ["--routine", self._options.build / ROUTINE]
            trial = self._json("prove", command, *options, "--json", self._folder / "trial.json")
            found["trial"] = tried(trial)
        if by_libc or is_fresh(found):
            say("whole runs")
            found["runs"] = self._runs(command, places, is_fresh(found))
        return found

    def _count(self) -> int:
        """The number of turns that take the seconds of a run, without its start."""
        start, count = self._seconds(1), 1
        while count < 1 << 20:
            count *= 4
            more = self._seconds(count) - start
            if more > self._options.work / 3:
                return max(2, round(count * self._options.work / more))
        raise Failure("the driver does not take longer for more turns")

    def _seconds(self, count: int) -> float:
        return self._run(count, self._environment)[1].wall

    def _run(self, count: int, environment: dict[str, str]) -> tuple[str, Run]:
        done = run([*self._command, str(count)], environment, LONGEST)
        return result_of(done.output), done

    def _cost(self, count: int) -> dict[str, Any]:
        """Returns the bytes that a run moves, the faults for each MiB, and the kernel's share of
        the CPU time. The latter two leave out the start. Raises Failure if the preload library
        changes the result."""
        preloaded = {**self._environment, "LD_PRELOAD": str(preloadable(self._preload))}
        routine, _ = self._run(count, preloaded)
        _, start = self._run(1, self._environment)
        libc, whole = self._run(count, self._environment)
        if libc != routine:
            raise Failure(f"its result differs: {libc} with libc, {routine} with the routine")
        used, first = whole.used, start.used
        seconds, in_kernel = used.seconds - first.seconds, used.in_kernel - first.in_kernel
        moved = int(libc.split()[1])
        mib = (count - 1) * moved / MIB
        return {
            "moved": count * moved,
            "faults": max(0.0, (used.faults - first.faults) / mib),
            "kernel": Used(seconds, max(0.0, in_kernel)).kernel_share,
        }

    def _json(self, name: str, command: list[str], *options: str | Path) -> dict[str, Any]:
        """Runs asterope-NAME; returns the JSON that it writes. The last option is the file. Raises
        Failure."""
        file = Path(options[-1])
        file.unlink(missing_ok=True)
        whole = [self._options.build / f"asterope-{name}", *options, "--", *command]
        try:
            run(whole, self._environment, LONGEST)
        except Failure:  # also for a program that is slower or cannot be told: all is written then
            if not file.exists():
                raise
        found = json.loads(file.read_text())
        if found.get("stopped_by") == "failure":
            raise Failure(f"asterope-{name}: a run failed")
        return found

    def _map(self, places: Path) -> Path | None:
        """The library with the map of places; None where it has no place."""
        if not places.exists() or not json.loads(places.read_text())["places"]:
            return None
        library = self._folder / "libplaces.so"
        generate = [self._options.build / "asterope-generate", self._options.profile]
        run([*generate, "--preload", library, "--places", places], self._environment, LONGEST)
        return library

    def _runs(self, command: list[str], places: Path, fresh: bool) -> dict[str, Any]:
        """Runs the program with the routine, and with its map of places. In fresh memory the way of
        a copy matters little: there glibc's remedies replace the map."""
        copies = f"routine={self._preload}"
        library = None if fresh else self._map(places)
        copies += f",places={library}" if library else ""
        options = ["--metric", "cpu", "--rounds", str(self._options.rounds)]
        options += ["--time-budget", f"{LONGEST // 2}s", "--copies", copies]
        options += ["--tunables"] if fresh else []
        runs = self._json("prove", command, *options, "--json", self._folder / "runs.json")
        return {one["name"]: one["ratio"] for one in runs["copies"] if one.get("ratio")}


def is_fresh(row: dict[str, Any]) -> bool:
    """Whether new pages are a cost."""
    return bool(row["kernel"] >= KERNEL_SHARE and row["faults"] >= LEAST_FAULTS)


def recorded(recording: dict[str, Any], moved: int) -> dict[str, Any]:
    """The part of a recording that the table needs. `moved`: bytes, as the program's user sees
    them."""
    copies = recording["copies"]
    places = [one for one in recording["places"] if one["calls_function"] != "memset"]
    top = max(places, key=lambda one: one["bytes"], default=None)
    return {
        "machine": recording["machine"],
        "share": copies["share"],
        "bytes": copies["bytes"],
        "times": copies["bytes"] / moved,
        "function": top["calls_function"] if top else None,
        "size": top["median_size"] if top else None,
        "caller": (top["function"] or Path(top["module"]).name) if top else None,
    }


def tried(trial: dict[str, Any]) -> dict[str, Any]:
    return {
        "told": trial["told"],
        "gain": trial["gain"] if trial["told"] else None,
        "unjudged": trial["unjudged"],
        "said": trial["said"][:1],
    }
