"""Data segment, heap and optimization: the cost of reaching arrays in each.

The loops are compiled with their arrays (segments.c). Static ones have an address that the linker
knows, those of the heap are reached through a pointer variable. Among the loops are a call of
libc's memcpy and one of the routine, which is compiled with them. Both are handed pointers, and a
pointer is the same wherever it points.

Each compiler and level makes one program of either kind. All run again and again in shuffled order.
Each run is a process of its own, as a place cannot change within one. The static one runs twice a
round, which is the noise.
"""

from __future__ import annotations

import math
import random
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ..faults import BadInput, Failure
from ..profile import Ratio
from ..robust import signed_rank_interval

COMPILERS, LEVELS = ("gcc", "clang"), ("-O0", "-O1", "-O2", "-O3")
LOOPS = ("copy", "copy_bytes", "fill", "fill_bytes", "product", "memcpy", "routine")
# The programs of each build. The second is a copy of the first, which lies in other pages.
STATIC, AGAIN, HEAP = "static", "again", "heap"
MOST_SECONDS = 60
# Programs have addresses that are known when they are linked, not only their distances from the
# code. Their loops begin at a line: -O1 aligns none, and such loops took 0.48 to 2.1 times as long.
FIXED = ("-fno-pie", "-no-pie", "-falign-loops=64")


@dataclass(frozen=True)
class Cell:
    """One loop of one build: nanoseconds over the static arrays, and the ratios to that of the
    heap, and of the same program again."""

    ns: float
    heap: Ratio
    floor: Ratio

    @property
    def differs(self) -> bool:
        """The difference exceeds that of the same program from itself, and is at least 1 %."""
        clear = self.heap.low > self.floor.high or self.heap.high < self.floor.low
        return clear and abs(math.log(self.heap.median)) > 0.01


# ns by build, program and loop.
Round = Mapping[tuple[str, str, str], float]


def build_all(routine: Path, compilers: Sequence[str], folder: Path) -> dict[tuple[str, str], Path]:
    """By build and program. Raises BadInput."""
    programs = {}
    sources = [str(Path(__file__).with_suffix(".c")), str(routine)]
    for compiler in compilers:
        for level in LEVELS:
            build = f"{compiler} {level}"
            for kind in (STATIC, HEAP):
                program = folder / f"{compiler}{level}-{kind}"
                options = [*FIXED, *(["-DHEAP"] if kind == HEAP else [])]
                _compile([compiler, level, "-std=gnu11", *options, *sources, "-o", str(program)])
                programs[build, kind] = program
            programs[build, AGAIN] = folder / f"{compiler}{level}-{AGAIN}"
            shutil.copy(programs[build, STATIC], programs[build, AGAIN])
    return programs


def _compile(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        lines = [one for one in done.stderr.splitlines() if "error: " in one or "undefined" in one]
        lines = lines or [done.stderr]
        raise BadInput(f"{command[0]} {command[1]}: {lines[0].strip()[:300]}")


def time_all(
    programs: Mapping[tuple[str, str], Path], rounds: int, random_order: random.Random
) -> list[Round]:
    """Each program once a round. Raises Failure."""
    timed = []
    for _ in range(rounds):
        own: dict[tuple[str, str, str], float] = {}
        for build, kind in random_order.sample(list(programs), len(programs)):
            command = [programs[build, kind]]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS)
            except subprocess.TimeoutExpired:
                raise Failure(f"the loops of {build}: longer than {MOST_SECONDS} s") from None
            if done.returncode != 0:
                why = done.stderr.strip() or f"end with {done.returncode}"
                raise Failure(f"the loops of {build}: {why}")
            for line in done.stdout.splitlines():
                loop, ns = line.split()
                own[build, kind, loop] = float(ns)
        timed.append(own)
    return timed


def analyse(rounds: Sequence[Round]) -> dict[str, dict[str, Cell]]:
    """By loop and build."""
    cells: dict[str, dict[str, Cell]] = {loop: {} for loop in LOOPS}
    for build in sorted({build for build, _kind, _loop in rounds[0]}):
        for loop in LOOPS:

            def over_static(kind: str, loop: str = loop, build: str = build) -> Ratio:
                found = signed_rank_interval(
                    [math.log(r[build, kind, loop] / r[build, STATIC, loop]) for r in rounds]
                )
                return Ratio(math.exp(found.median), math.exp(found.low), math.exp(found.high))

            ns = median(r[build, STATIC, loop] for r in rounds)
            cells[loop][build] = Cell(ns, over_static(HEAP), over_static(AGAIN))
    return cells


def words(cells: Mapping[str, Mapping[str, Cell]]) -> str:
    """The table, and the answer in a sentence."""
    lines = [f"{'':<23}{'static':>9}{'heap over static':>25}{'static again':>22}"]
    for loop, builds in cells.items():
        for build, cell in builds.items():
            ratios = "".join(
                f"{ratio.median:>9.3f} ({ratio.low:.3f}..{ratio.high:.3f})"
                for ratio in (cell.heap, cell.floor)
            )
            mark = " *" if cell.differs else ""
            lines.append(f"{loop:<11}{build:<10}{cell.ns:>8.0f} ns{ratios}{mark}")
    return "\n".join([*lines, "", verdict(cells)])


def verdict(cells: Mapping[str, Mapping[str, Cell]]) -> str:
    by_level: dict[bool, list[tuple[float, str]]] = {}
    for loop, builds in cells.items():
        for build, cell in builds.items():
            if cell.differs:
                name = f"{loop}, {build}"
                by_level.setdefault(build.endswith("-O0"), []).append((cell.heap.median, name))
    count = sum(map(len, cells.values()))
    parts = []
    for unoptimized, when in ((True, "at -O0"), (False, "from -O1 on")):
        found = by_level.get(unoptimized, [])
        of = count // len(LEVELS) if unoptimized else count - count // len(LEVELS)
        part = f"{when} in {len(found)} of {of} cells"
        if found:
            ends = dict.fromkeys((min(found), max(found)))
            part += " (" + " to ".join(f"{ratio:.2f}: {name}" for ratio, name in ends) + ")"
        parts.append(part)
    return (
        "The heap through a pointer variable takes another time than the data segment, beyond the "
        f"noise and 1 %: {'; '.join(parts)}."
    )
