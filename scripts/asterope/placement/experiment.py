"""The experiment: builds the routine at every -O, times all builds on buffers in all places.

One process loads all builds as shared objects: so all of them copy the very same buffers within a
millisecond of each other, in shuffled order. (Rejected: a process for each build. Its pages would
be others, and where pages lie decides more than anything else here.) For the same reason several
such processes run, one after the other, each with addresses of its own.
All are called from one loop that is compiled once, so what differs between builds is the copy
alone. Three controls run in each block, once for each build: one and the same build of the routine,
loaded from as many files, which is how far identical code strays from itself depending on where it
lies; libc through a call that each build compiled for itself, which is what the -O of a program
costs its calls; and libc called directly.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ..faults import BadInput, Failure
from ..profile import Ratio
from ..robust import ratio_interval

SOURCES = Path(__file__).parent
COMPILERS, LEVELS = ("gcc", "clang"), ("-O0", "-O1", "-O2", "-O3")
PLACES = ("heap", "data", "bss", "stack")
# The routine; one build of it, once for each; libc through the build's own call; libc directly.
ROUTINE, AGAIN, CALLED, LIBC = "routine", "again", "called", "libc"
COPIES = (ROUTINE, AGAIN, CALLED, LIBC)
LARGEST = 1 << 20  # as in driver.c
PROCESSES = 4
MOST_SECONDS = 1800


@dataclass(frozen=True)
class Build:
    """The routine as one compiler made it at one level."""

    compiler: str
    level: str
    library: Path
    again: Path  # a file of its own, the same build for all

    @property
    def name(self) -> str:
        return f"{self.compiler} {self.level}"


@dataclass(frozen=True)
class Trial:
    """One timing: nanoseconds a call. `build` counts from 0."""

    round: int
    size: int
    source: str
    destination: str
    build: int
    copy: str
    ns: float


def find_compilers(wanted: Sequence[str] = COMPILERS) -> list[str]:
    """Those that are installed."""
    return [name for name in wanted if shutil.which(name)]


def build_all(routine: Path, compilers: Sequence[str], folder: Path) -> list[Build]:
    """The routine at every level. Raises BadInput where a compiler refuses it."""
    builds = []
    for compiler in compilers:
        for level in LEVELS:
            library = folder / f"{Path(compiler).name}{level}.so"
            what = [str(routine), str(SOURCES / "thunk.c")]
            compile_c([compiler, "-std=c99", level, "-fPIC", "-shared", *what, "-o", str(library)])
            builds.append(Build(compiler, level, library, library.with_suffix(".again.so")))
    usual = next(build for build in builds if build.level == "-O2")
    for build in builds:
        shutil.copyfile(usual.library, build.again)
    return builds


def build_driver(compiler: str, folder: Path) -> Path:
    """The program that times them. Raises BadInput where a compiler refuses it."""
    program = folder / "driver"
    compile_c([compiler, "-O2", str(SOURCES / "driver.c"), "-o", str(program), "-ldl"])
    return program


def compile_c(command: Sequence[str]) -> None:
    """Raises BadInput."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
        raise BadInput(f"{command[0]} {command[2]}: {lines[0].strip()[:300]}")


def time_all(
    driver: Path, builds: Sequence[Build], sizes: Sequence[int], rounds: int, seed: int
) -> list[Trial]:
    """Runs the driver in several processes, on the CPUs that this one may use; they share the
    rounds. Raises Failure."""
    trials: list[Trial] = []
    for process in range(min(PROCESSES, rounds)):
        share = range(process, rounds, PROCESSES)
        own = _run_driver(driver, builds, sizes, len(share), seed + process)
        trials += [replace(trial, round=share[trial.round]) for trial in own]
    return trials


def _run_driver(
    driver: Path, builds: Sequence[Build], sizes: Sequence[int], rounds: int, seed: int
) -> list[Trial]:
    command = [str(driver), str(rounds), str(seed), ",".join(map(str, sizes))]
    command += [str(path) for build in builds for path in (build.library, build.again)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failure(f"the timings took more than {MOST_SECONDS} s") from None
    if done.returncode < 0:
        raise Failure(f"the timings ended with signal {-done.returncode}")
    if done.returncode != 0:
        raise Failure(done.stderr.strip() or f"the timings ended with exit code {done.returncode}")
    return read_trials(done.stdout)


def read_trials(text: str) -> list[Trial]:
    """The driver's output."""
    trials = []
    for line in text.splitlines():
        words = line.split()
        if words[0] != "calls":
            number, size, source, destination, build, copy, ns = words
            trials.append(
                Trial(int(number), int(size), source, destination, int(build), copy, float(ns))
            )
    return trials


# --- What the timings say -------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One copy of one build in one place: median nanoseconds a call, and its time over the median
    of all builds' of that copy in the same block and round."""

    size: int
    source: str
    destination: str
    build: int
    copy: str
    ns: float
    ratio: Ratio


@dataclass(frozen=True)
class Results:
    """What the timings say.

    `levels`: by copy and size, for each build its time over the median of all builds', over all
    places. `places`: by copy and size, for each source and destination the time over that of heap
    to heap in the same round, over all builds.
    """

    cells: Sequence[Cell]
    levels: Mapping[str, Mapping[int, Sequence[Ratio]]]
    places: Mapping[str, Mapping[int, Mapping[tuple[str, str], Ratio]]]

    @property
    def sizes(self) -> list[int]:
        return list(self.levels[ROUTINE])

    def spread(self, copy: str) -> tuple[float, float]:
        """The least and the most that a build of this copy takes, by the median of all builds."""
        medians = [r.median for ratios in self.levels[copy].values() for r in ratios]
        return min(medians), max(medians)

    def noise(self, size: int) -> tuple[float, float]:
        """What identical code takes of itself: the farthest ends of its intervals."""
        ratios = self.levels[AGAIN][size]
        return min(r.low for r in ratios), max(r.high for r in ratios)

    def different(self) -> list[tuple[int, int]]:
        """Size and build where the routine's interval lies wholly outside the noise."""
        found = []
        for size, ratios in self.levels[ROUTINE].items():
            low, high = self.noise(size)
            found += [(size, b) for b, r in enumerate(ratios) if r.low > high or r.high < low]
        return found

    def worst_place(self, copy: str) -> tuple[float, int, str, str]:
        """The largest time over heap to heap, and where: size, source, destination."""
        return max(
            (ratio.median, size, source, destination)
            for size, ratios in self.places[copy].items()
            for (source, destination), ratio in ratios.items()
        )


def analyse(trials: Sequence[Trial]) -> Results:
    """Medians and sign-test intervals; every cell must have been timed in each round."""
    blocks: dict[tuple, dict[int, dict[int, float]]] = {}  # (block, copy) -> round -> build -> ns
    for t in trials:
        key = (t.size, t.source, t.destination, t.copy)
        blocks.setdefault(key, {}).setdefault(t.round, {})[t.build] = t.ns
    cells = []
    logs: dict[tuple[str, int, int], list[float]] = {}  # (copy, size, build), over all places
    usual: dict[tuple, dict[int, float]] = {}  # (block, copy) -> round -> median over the builds
    for (size, source, destination, copy), by_round in sorted(blocks.items()):
        reference = {number: median(by_build.values()) for number, by_build in by_round.items()}
        usual[size, source, destination, copy] = reference
        for build in sorted(next(iter(by_round.values()))):
            own = [math.log(by_round[n][build] / reference[n]) for n in by_round]
            logs.setdefault((copy, size, build), []).extend(own)
            ns = median(by_build[build] for by_build in by_round.values())
            ratio = ratio_interval(own)
            cells.append(Cell(size, source, destination, build, copy, ns, ratio))
    levels: dict[str, dict[int, list[Ratio]]] = {copy: {} for copy in COPIES}
    for (copy, size, _build), own in sorted(logs.items()):
        levels[copy].setdefault(size, []).append(ratio_interval(own))
    places: dict[str, dict[int, dict[tuple[str, str], Ratio]]] = {copy: {} for copy in COPIES}
    for (size, source, destination, copy), reference in usual.items():
        heap = usual[size, "heap", "heap", copy]
        ratios = [math.log(reference[number] / heap[number]) for number in reference]
        by_place = places[copy].setdefault(size, {})
        by_place[source, destination] = ratio_interval(ratios)
    return Results(cells, levels, places)
