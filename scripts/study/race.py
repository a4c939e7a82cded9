"""The tuner's race and run-off, played back from recorded samples, every trial counted.

The same rules as tuner/race.cpp. A trial is drawn from what was recorded of its candidate, and
libc's from what was recorded of it, with what its recorded round had in common.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

from study.candidates import Space
from study.recording import WORST_RATIO, Size

# Candidates between two timings of libc, which runs at the beginning, in the middle and at the end.
HEAT = 24
LIBC_IN_A_HEAT = 3
# What may count as a tie: always below the first, never above the second.
TIE_ALWAYS = 0.01
TIE_NEVER = 0.02

Weights = dict[str, float]


class Draws:
    """Trials of one size: recorded samples in shuffled order, shuffled anew when they run out.

    Few samples are no distribution: of two, any odd number of rounds would make one the median. So
    who has fewer than ENOUGH gets its own median with the noise that the finalists had.
    """

    ENOUGH = 12

    def __init__(self, size: Size, random: Random) -> None:
        self._size, self._random = size, random
        self._left: dict[tuple[str, str], list[float]] = {}
        self._centers: dict[tuple[str, str], float] = {}

    def round_of_libc(self, workload: str, timings: int) -> list[float]:
        """So many timings of libc in one round: what it was in a recorded one is common to all."""
        size, random = self._size, self._random
        common = random.choice(size.rounds[workload])
        return [common + random.choice(size.libc[workload]) for _ in range(timings)]

    def draw(self, name: str, workload: str) -> float:
        key = (name, workload)
        if key in self._centers:
            return self._centers[key] + self._random.choice(self._size.noise[workload])
        left = self._left.get(key)
        if not left:
            left = list(self._size.candidates[name][workload])
            if len(left) < self.ENOUGH:
                self._centers[key] = median(left)
                return self.draw(name, workload)
            self._random.shuffle(left)
            self._left[key] = left
        return left.pop()


def sign_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """Median, low and high, as tuner/statistics.cpp has them."""
    ranked = sorted(values)
    n = len(ranked)
    allowed = (1 - confidence) / 2
    below, k = 0.0, 0
    while 2 * k < n and below + math.comb(n, k) / 2**n <= allowed:
        below += math.comb(n, k) / 2**n
        k += 1
    cut = max(0, k - 1)
    return median(ranked), ranked[cut], ranked[n - 1 - cut]


@dataclass(frozen=True)
class Chosen:
    winner: int
    ranked: list[int]


class Race:
    """One size: the samples so far. Objectives are weights by workload; the first matters most."""

    def __init__(
        self, size: Size, space: Space, objectives: Sequence[Weights], random: Random
    ) -> None:
        self.size, self.space, self.objectives, self.random = size, space, objectives, random
        self._names = [candidate.name for candidate in space.candidates]
        self.workloads = sorted({w for weights in objectives for w, x in weights.items() if x > 0})
        self.measured = sorted({w for weights in objectives for w in weights})
        self.screening_trials = 0
        self.run_off_trials = 0
        self.seconds = 0.0  # that all these trials would have taken
        self._draws = Draws(size, random)
        self._samples: dict[tuple[int, str], list[float]] = {}
        self._centers: dict[tuple[int, str], float] = {}

    @property
    def trials(self) -> int:
        return self.screening_trials + self.run_off_trials

    def _draw(self, entrant: int, workload: str) -> float:
        drawn = self._draws.draw(self._names[entrant], workload)
        self._spend(workload, 1, drawn)
        return drawn

    def _spend(self, workload: str, trials: int, faster: float = 0.0) -> None:
        """The time of trials so much faster than libc's, as a logarithm."""
        timed = self.size.libc_seconds[workload] * math.exp(-faster)
        self.seconds += trials * (timed + self.size.fixed_seconds[workload])

    def sample(self, entrants: Sequence[int], samples: int) -> None:
        """One trial more for each entrant, workload and sample, and libc in every heat."""
        order = list(entrants)
        for workload in self.workloads:
            for _ in range(samples):
                self.random.shuffle(order)
                for begin in range(0, len(order), HEAT):
                    libc = median(self._draws.round_of_libc(workload, LIBC_IN_A_HEAT))
                    for entrant in order[begin : begin + HEAT]:
                        drawn = self._samples.setdefault((entrant, workload), [])
                        drawn.append(self._draw(entrant, workload) - libc)
            for entrant in order:
                self._centers[entrant, workload] = median(self._samples[entrant, workload])
        libc = math.ceil(len(entrants) / HEAT) * LIBC_IN_A_HEAT * samples
        for workload in self.workloads:
            self._spend(workload, libc)
        self.screening_trials += (len(entrants) * samples + libc) * len(self.workloads)

    def samples_of(self, entrant: int) -> int:
        return len(self._samples[entrant, self.workloads[0]])

    def center(self, entrant: int, workload: str) -> float:
        return self._centers[entrant, workload]

    def score(self, entrant: int, objective: int = 0) -> float:
        weights = self.objectives[objective]
        return sum(x * self._centers[entrant, w] for w, x in weights.items() if x > 0)

    def acceptable(self, entrant: int, objective: int = 0) -> bool:
        weights = self.objectives[objective]
        floor = math.log(WORST_RATIO)
        return all(self._centers[entrant, w] >= floor for w, x in weights.items() if x > 0)

    def rank(self, entrants: Iterable[int], objective: int = 0) -> list[int]:
        return sorted(entrants, key=lambda entrant: -self.score(entrant, objective))

    def best(self, entrants: Sequence[int], keep: int) -> list[int]:
        """The best for the first objective, and half as many more that the others share."""
        others = len(self.objectives) - 1
        kept = self._best_for(0, entrants, keep)
        for objective in range(1, others + 1):
            share = max(1, keep // 2 // others)
            for entrant in self._best_for(objective, entrants, share):
                if entrant not in kept:
                    kept.append(entrant)
        return kept

    def _best_for(self, objective: int, entrants: Sequence[int], keep: int) -> list[int]:
        """Half of the places belong to those that lose nowhere."""
        ranked = self.rank(entrants, objective)
        good = {entrant for entrant in ranked if self.acceptable(entrant, objective)}
        reserved = min(keep // 2, len(good))
        kept: list[int] = []
        for entrant in ranked:
            if len(kept) + reserved < keep:
                kept.append(entrant)
                reserved -= entrant in good and reserved > 0
            elif entrant in good and reserved > 0 and len(kept) < keep:
                kept.append(entrant)
                reserved -= 1
        return kept

    def run_off(
        self, finalists: Sequence[int], rounds: int, favourites: Sequence[Sequence[int]]
    ) -> list[Chosen]:
        """Times the finalists anew and chooses for each objective."""
        self.run_off_trials += (len(finalists) + 2) * rounds * len(self.measured)
        for workload in self.measured:  # one that does not count: about as long as libc takes
            others = 0 if workload in self.workloads else len(finalists)
            self._spend(workload, (others + 2) * rounds)
        logs: dict[tuple[int, str], list[float]] = {}
        libc: dict[str, list[float]] = {}
        for w in self.workloads:
            pairs = [self._draws.round_of_libc(w, 2) for _ in range(rounds)]
            libc[w] = [again - one for one, again in pairs]
            for entrant in finalists:
                logs[entrant, w] = [self._draw(entrant, w) - one for one, _ in pairs]
        return [
            self._choose(weights, logs, libc, finalists, favourites[i])
            for i, weights in enumerate(self.objectives)
        ]

    @staticmethod
    def _choose(
        weights: Weights,
        logs: dict[tuple[int, str], list[float]],
        libc: dict[str, list[float]],
        finalists: Sequence[int],
        favourites: Sequence[int],
    ) -> Chosen:
        counted = {w: x for w, x in weights.items() if x > 0}
        middles = {f: {w: median(logs[f, w]) for w in counted} for f in finalists}
        ratio = {f: sum(x * middles[f][w] for w, x in counted.items()) for f in finalists}
        nowhere = {f: all(m >= math.log(WORST_RATIO) for m in middles[f].values()) for f in ratio}
        ranked = sorted(finalists, key=lambda f: (not nowhere[f], -ratio[f]))
        leader = ranked[0]

        def mean(of: dict[str, list[float]]) -> list[float]:
            return [sum(counted[w] * v for w, v in zip(of, row)) for row in zip(*of.values())]

        noise = max(TIE_ALWAYS, abs(median(mean({w: libc[w] for w in counted}))))

        def ties(other: int) -> bool:
            behind = {w: [a - b for a, b in zip(logs[leader, w], logs[other, w])] for w in counted}
            lag, low, _ = sign_interval(mean(behind))
            return (low <= 0 or lag <= noise) and lag <= TIE_NEVER

        tied = [
            f
            for f in ranked
            if nowhere[f] == nowhere[leader] and ratio[leader] - ratio[f] <= TIE_NEVER and ties(f)
        ]
        winner = next((f for f in favourites if f in tied), min(tied, default=leader))
        return Chosen(winner, ranked)
