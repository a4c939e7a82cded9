"""Reads the samples of every candidate in a sample log, whole or of a run that still goes on.

The format is described in tuner/run/sample_log.hpp. This module reads only the steps of the
pipelines.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any

from .. import spaces, workloads
from ..faults import BadInput
from ..limits import utility
from ..profile import log_header_fault

FORMAT, VERSION = "asterope-trials", 2
WORKLOADS = workloads.names("measured or tunable")

# A log without weights was written before fetch counted. These are the workloads that `balanced`
# weighed then, all alike.
BALANCED = ("hot", "cold", "consume")

LIBC = "libc"
REFERENCE = "reference "  # begins the names of other copies that winners are compared with

# Candidates in the run-off have at least this share of the most samples that any candidate has.
RUN_OFF_SHARE = 0.7

# A workload scores candidates if this share of those of the size were timed under it. The others
# are timed in the run-off alone.
SCREENING_SHARE = 0.9

MAXIMUM_SIZE = 1 << 40


# The timings at one transfer size: by candidate and workload, libc's time over the candidate's in
# the rounds that count.
Samples = dict[str, dict[str, list[float]]]


def weights_at(
    samples: Samples, weights: Mapping[str, float], share: float = 0
) -> Mapping[str, float]:
    """The weights of the workloads that were timed at that size: not all are at each. `share`: of
    the candidates that the commonest workload has."""
    timed = {w: sum(bool(own.get(w)) for own in samples.values()) for w in weights}
    most = max(timed.values(), default=0)
    return {w: v for w, v in weights.items() if timed[w] and timed[w] >= share * most}


def scores(samples: Samples, weights: Mapping[str, float]) -> dict[str, float]:
    """Weighted geometric means of the workloads' medians, by candidate. It leaves out candidates
    that were not timed under all workloads that count."""
    total = sum(weights.values())
    return {
        name: math.prod(median(own[w]) ** (v / total) for w, v in weights.items())
        for name, own in samples.items()
        if all(own.get(w) for w in weights)
    }


def leader(
    samples: Samples, weights: Mapping[str, float], among: Iterable[str] | None = None
) -> str | None:
    """The best of the most-timed candidates: the best of all is the luckiest of thousands.

    `among`: some candidates; without it, all. None if all of them lack a workload that counts.
    """
    counts = {
        name: min((len(samples[name].get(w, ())) for w in weights), default=0)
        for name in (samples if among is None else among)
    }
    most = max(counts.values(), default=0)
    finalists = [name for name, n in counts.items() if n and n >= RUN_OFF_SHARE * most]

    def rank(name: str) -> tuple[float, str]:
        own = samples[name]
        return sum(v * utility(math.log(median(own[w]))) for w, v in weights.items()), name

    return max(finalists, key=rank, default=None)


@dataclass
class SampleLog:
    """A sample log, as far as it was written.

    The lines of a round stand together, with one number and workload. libc is in each round, so
    that slow phases of the machine hit both. A candidate's sample is libc's time over its own.
    """

    header: Mapping[str, Any]
    sizes: dict[int, Samples] = field(default_factory=dict)  # ascending, once all is read
    steps: list[str] = field(default_factory=list)  # in the order they began
    samples: int = 0
    hits: Counter[str] = field(default_factory=Counter)  # rounds that a disturbance ended, by kind
    resumed: int = 0
    finished: bool = False
    torn: bool = False
    _names: dict[str, str] = field(default_factory=lambda: {LIBC: LIBC})  # each is kept once
    _size: int | None = None  # of the present step
    _round: tuple[str, int] | None = None
    _times: list[tuple[str, float]] = field(default_factory=list)  # of the present round
    _disturbed: bool = False

    @property
    def machine(self) -> Mapping[str, Any]:
        return self.header["machine"]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The weight of each workload in scores, without those of weight 0."""
        given = self.header["options"]["weights"]
        weights = {w: float(given[w]) for w in WORKLOADS if given.get(w, 0) > 0}
        return weights or dict.fromkeys(BALANCED, 1.0)

    @cached_property
    def pipelines(self) -> Any:
        """The space of its candidates: that of its architecture."""
        return spaces.of(self.header["architecture"]).pipelines

    @cached_property
    def tuples(self) -> Mapping[str, Any]:
        """Every candidate that was timed, by name."""
        names = {name for samples in self.sizes.values() for name in samples}
        return {name: self.pipelines.named(name) for name in sorted(names)}

    def add(self, fields: Mapping[str, Any]) -> None:
        """Takes a line. Raises KeyError, TypeError or ValueError for a damaged one."""
        if "candidate" in fields:
            self._add_sample(fields)
        elif "step" in fields:
            self._begin_step(fields["step"])
        elif "hit" in fields:
            self.hits.update(str(kind)[:20] for kind in fields["hit"])
            self._disturbed = True
        elif "finished" in fields:
            self.finished = True
        elif "resumed" in fields:
            self.resumed += 1

    def _begin_step(self, name: object) -> None:
        if not isinstance(name, str) or not (name.isprintable() and len(name) < 80):
            raise ValueError("a step without a name")
        self.end_round()
        if name not in self.steps:
            self.steps.append(name)
        kind, _, size = name.partition(" ")
        self._size = None
        if kind == "pipelines":
            if not 1 <= int(size) <= MAXIMUM_SIZE:
                raise ValueError("a number is out of range")
            self._size = int(size)
            self.sizes.setdefault(self._size, {})

    def _add_sample(self, fields: Mapping[str, Any]) -> None:
        self.samples += 1
        if self._size is None:
            return
        if fields["size"] != self._size:
            raise ValueError("is of another size than its step")
        ns, workload, name = fields["ns"], fields["workload"], fields["candidate"]
        if type(ns) not in (int, float) or not 0 < ns < 1e18:
            raise ValueError("a time is not above 0")
        if workload not in WORKLOADS:
            raise ValueError("names an unknown workload")
        key = workload, fields["round"]
        if isinstance(name, str) and name.startswith(REFERENCE):
            return
        if name not in self._names:
            if not isinstance(name, str) or self.pipelines.named(name) is None:
                raise ValueError("names a candidate that does not exist")
            self._names[name] = name
        if key != self._round:
            self.end_round()
            self._round = key
        elif self._disturbed:  # it is timed once more: only the last try counts
            self._times.clear()
        self._disturbed = False
        self._times.append((self._names[name], float(ns)))

    def end_round(self) -> None:
        """Its times become samples."""
        libc = [ns for name, ns in self._times if name == LIBC]
        if libc and self._size is not None and self._round is not None:
            workload, reference = self._round[0], median(libc)
            for name, ns in self._times:
                if name != LIBC:
                    samples = self.sizes[self._size].setdefault(name, {})
                    samples.setdefault(workload, []).append(reference / ns)
        self._times, self._round, self._disturbed = [], None, False


def read_sample_log(header: Mapping[str, Any], lines: Iterable[bytes], where: str) -> SampleLog:
    """From the parsed first line and the lines behind it; `where` names the file in complaints.

    A last line without its end is left out: a run that goes on, or was killed, leaves one.
    Raises BadInput.
    """
    version = header.get("version")
    if version != VERSION:
        raise BadInput(
            f"{where}: a sample log of version {json.dumps(version)[:40]}, this program reads "
            f"version {VERSION}: use the asterope-report of the asterope-tune that wrote it"
        )
    fault = log_header_fault(header)
    if fault is not None:
        raise BadInput(f"{where}: line 1: {fault}")
    log = SampleLog(header)
    number = 2
    try:
        for number, line in enumerate(lines, 2):  # noqa: B007  for what is raised
            if not line.endswith(b"\n"):
                log.torn = True
                break
            fields = json.loads(line.decode())
            if not isinstance(fields, dict):
                raise ValueError("is not a JSON object")
            log.add(fields)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInput(
            f"{where}: line {number}{column}: {_why(error)}: the log is damaged, leave it out"
        ) from None
    log.end_round()
    log.sizes = dict(sorted(log.sizes.items()))
    return log


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg})"
    if isinstance(error, UnicodeDecodeError):
        return "is not text"
    if isinstance(error, KeyError):
        return f"lacks {error}"
    text = str(error)
    return text if text.isprintable() else ascii(text)
