"""Recordings of exhaustive searches: what every candidate took, and so what a choice costs.

A recording is what `asterope-tune replay` reads as well, in its thinned form: gzipped JSON lines,
the header of the trial log with a field "thinned", the candidates' names, then one object for each
size and workload.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median

# No candidate wins that loses more than this to libc in one workload while another does not.
WORST_RATIO = 0.97
# Of the most samples that any candidate has, what those in the run-off have at least.
RUN_OFF_SHARE = 0.7
# Samples are whole numbers of this part of a log unit.
UNIT = 1e-4

# Samples by workload, as logarithms of time: what a round's level is above the candidate's own.
Samples = dict[str, list[float]]


class BadRecording(ValueError):
    """A recording that cannot be used: its text says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Size:
    """What was recorded of one transfer size."""

    bytes: int
    candidates: dict[str, Samples] = field(default_factory=dict)  # by name, those timed here
    rounds: Samples = field(default_factory=dict)  # a round's level above libc's median there
    libc: Samples = field(default_factory=dict)  # that median above one libc's own
    # By workload, what a trial of libc takes: what grows with the copy's time, and what does not.
    libc_seconds: dict[str, float] = field(default_factory=dict)
    fixed_seconds: dict[str, float] = field(default_factory=dict)

    def center(self, name: str, workload: str) -> float:
        """log(libc's time / own), by the medians of all samples: the nearest to the truth."""
        return median(self.candidates[name][workload]) - self._libc_level[workload]

    @cached_property
    def _libc_level(self) -> dict[str, float]:
        return {workload: median(samples) for workload, samples in self.rounds.items()}

    @cached_property
    def noise(self) -> dict[str, list[float]]:
        """By workload, how far the samples of those in the run-off lie from their medians."""
        noise: dict[str, list[float]] = {}
        for name in self.finalists:
            for workload, samples in self.candidates[name].items():
                middle = median(samples)
                noise.setdefault(workload, []).extend(x - middle for x in samples)
        return noise

    def score(self, name: str, weights: Mapping[str, float]) -> float:
        """Weighted mean of the workloads' medians: the logarithm of how much faster than libc."""
        return sum(weight * self.center(name, w) for w, weight in weights.items() if weight)

    def loses_nowhere(self, name: str, weights: Mapping[str, float]) -> bool:
        return all(
            self.center(name, workload) >= math.log(WORST_RATIO)
            for workload, weight in weights.items()
            if weight
        )

    @cached_property
    def finalists(self) -> list[str]:
        """Those that met in the recorded run-off: nobody else has nearly as many samples."""
        counts = {n: max(map(len, samples.values())) for n, samples in self.candidates.items()}
        enough = RUN_OFF_SHARE * max(counts.values())
        return [name for name, count in counts.items() if count >= enough]

    def winner(self, weights: Mapping[str, float]) -> str:
        """The best of the finalists: the best of all would be the luckiest of thousands."""
        return max(
            self.finalists, key=lambda n: (self.loses_nowhere(n, weights), self.score(n, weights))
        )

    def regret(self, name: str, weights: Mapping[str, float]) -> float:
        """How much slower than the winner: 0.01 is 1 %. None is negative.

        What was sampled too seldom to be in the run-off may seem faster than its winner; to count
        that as a gain would reward luck.
        """
        behind = self.score(self.winner(weights), weights) - self.score(name, weights)
        return max(0.0, math.exp(behind) - 1)


def read_recording(path: Path) -> list[Size]:
    """The sizes of a thinned recording, ascending. Raises BadRecording, or OSError."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        try:
            return parse_recording(lines, str(path))
        except (EOFError, UnicodeDecodeError, gzip.BadGzipFile, zlib.error) as error:
            raise BadRecording(f"{path}: no gzipped text ({error}): record anew") from None


def parse_recording(lines: Iterable[str], where: str) -> list[Size]:
    """As read_recording, from its lines; `where` names them in complaints."""
    sizes: dict[int, Size] = {}
    names: list[str] = []
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            if number == 1:
                if row["format"] != "asterope-trials" or "thinned" not in row:
                    raise BadRecording(
                        f"{where}: no thinned recording: make one with asterope-tune thin"
                    )
            elif number == 2:
                names = row["names"]
            else:
                _add(row, names, sizes.setdefault(row["size"], Size(row["size"])))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, BadRecording):
            raise
        raise BadRecording(f"{where}: line {number} is damaged ({error!r}): record anew") from None
    if not sizes:
        raise BadRecording(f"{where}: no size in it: record anew")
    return [sizes[size] for size in sorted(sizes)]


def _add(row: dict, names: list[str], size: Size) -> None:
    """One workload of a size."""
    workload = row["workload"]
    if len(row["candidates"]) != len(names):
        raise ValueError(f"{len(row['candidates'])} candidates of {len(names)}")
    size.rounds[workload] = [number * UNIT for number in row["rounds"]]
    size.libc[workload] = [number * UNIT for number in row["libc"]]
    size.libc_seconds[workload] = row["calls"] * row["libc_ns"] * 1e-9 * row["per_timed"]
    size.fixed_seconds[workload] = row["fixed_us"] * 1e-6
    for name, numbers in zip(names, row["candidates"]):
        if numbers:
            size.candidates.setdefault(name, {})[workload] = [number * UNIT for number in numbers]
