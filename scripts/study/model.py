"""A search that a model guides: time a well-spread part, fit, time what promises most, fit again.

The model predicts each workload's log(libc's time / own) from a candidate's parameters, with a
spread; the expected improvement over the best so far says what to time next and when to stop.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Protocol

import numpy as np
from asterope.space import ACCESS_TYPES, DIRECT, PREFETCH_TYPES, REGISTER_TYPES, Tuple

from study.candidates import lineage
from study.race import Race, Weights
from study.recording import WORST_RATIO, Size
from study.search import Rigor, Search

_REGISTERS = (*REGISTER_TYPES, DIRECT)


def encode(candidate: Tuple) -> list[float]:
    """A candidate as numbers: register and prefetch types one by one, all else along its axis."""
    c = candidate
    return [
        *(float(c.rt == rt) for rt in _REGISTERS),
        *(float(c.pt == pt) for pt in PREFETCH_TYPES),
        float(ACCESS_TYPES.index(c.lt)),
        float(ACCESS_TYPES.index(c.st)),
        c.ps / 14,
        c.pd / 30,
        math.log2(c.tb) / 4,
        math.log2(c.pi) / 2,
        float(c.pw > 0),
        c.pw / 32,
        float(c.dir == "down"),
    ]


class Model(Protocol):
    """What was learnt. `draws`: possible truths of each row, [draw, row, workload]."""

    def fit(self, rows: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None: ...

    def draws(self, rows: np.ndarray) -> np.ndarray: ...


class Forest:
    """Extremely randomised trees: their disagreement is the spread."""

    def __init__(self, seed: int, trees: int = 64, leaf: int = 4) -> None:
        from sklearn.ensemble import ExtraTreesRegressor

        self._model = ExtraTreesRegressor(
            trees, min_samples_leaf=leaf, bootstrap=True, random_state=seed
        )

    def fit(self, rows: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        self._model.fit(rows, targets, sample_weight=weights)

    def draws(self, rows: np.ndarray) -> np.ndarray:
        rows = rows.astype(np.float32)  # what the trees want: else each would convert anew
        shape = len(rows), -1
        return np.stack([t.tree_.predict(rows).reshape(shape) for t in self._model.estimators_])


class Boosted:
    """Gradient-boosted trees, one set each for the median and two quantiles of every workload."""

    _QUANTILES = (0.16, 0.5, 0.84)  # of a normal distribution: the mean and one deviation around

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._models: list[list] = []

    def fit(self, rows: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._models = [
            [
                HistGradientBoostingRegressor(
                    loss="quantile",
                    quantile=quantile,
                    max_iter=60,
                    max_leaf_nodes=15,
                    min_samples_leaf=5,
                    early_stopping=False,
                    random_state=self._seed,
                ).fit(rows, column, sample_weight=weights)
                for quantile in self._QUANTILES
            ]
            for column in targets.T
        ]

    def draws(self, rows: np.ndarray) -> np.ndarray:
        low, middle, high = (
            np.stack([models[i].predict(rows) for models in self._models], axis=1) for i in range(3)
        )
        return _normal_draws(middle, np.abs(high - low) / 2)


class Process:
    """A Gaussian process over the encoded axes, all workloads with one kernel."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._kernel = None
        self._fitted_with = 0

    def fit(self, rows: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        # Its length scales are searched only when there is half as much again to learn from: each
        # step of that search costs the cube of the rows.
        anew = len(rows) > 1.5 * self._fitted_with
        if anew:
            self._fitted_with = len(rows)
            start = ConstantKernel(1.0) * Matern(np.ones(rows.shape[1]), (0.1, 30), nu=2.5)
            start += WhiteKernel(0.3, (0.01, 3.0))
        else:
            start = self._kernel
        self._model = GaussianProcessRegressor(
            start,
            optimizer="fmin_l_bfgs_b" if anew else None,
            normalize_y=True,
            random_state=self._seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # an axis that does not matter
            self._model.fit(rows, targets)
        self._kernel = self._model.kernel_
        self._noise = math.sqrt(self._kernel.k2.noise_level)
        self._scale = targets.std(axis=0)

    def draws(self, rows: np.ndarray) -> np.ndarray:
        mean, deviation = self._model.predict(rows, return_std=True)
        variance = np.square(deviation) - np.square(self._noise * self._scale)
        return _normal_draws(mean, np.sqrt(np.maximum(variance, 0)))


def _normal_draws(mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """A few possible truths, evenly spread over the normal distribution; the workloads of a
    candidate are good or bad together, which overstates the spread of their mean a little.
    """
    from scipy.special import ndtri  # scikit-learn brings it

    quantiles = ndtri((np.arange(16) + 0.5) / 16)
    return mean + quantiles[:, None, None] * deviation


@dataclass(frozen=True)
class Settings:
    """How a model is used."""

    model: Callable[[int], Model]
    start: int = 160  # candidates that are timed before the first fit
    start_extended: int = 64  # candidates of the extension around the first leaders
    batch: int = 24  # a heat
    patience: int = 2  # batches in a row that promise less than the noise
    most_batches: int = 40
    keep: tuple[int, int] = (40, 16)  # that get 2, then 4 samples more before the run-off
    carry_over: bool = False  # whether sizes that were searched before are learnt from


@dataclass
class Memory:
    """What earlier sizes taught: rows and targets by size in bytes."""

    rows: dict[int, np.ndarray] = field(default_factory=dict)
    targets: dict[int, np.ndarray] = field(default_factory=dict)

    def nearest(self, size: int) -> list[int]:
        """The next size below and the next above, as far as they were searched."""
        below = [s for s in self.rows if s < size]
        above = [s for s in self.rows if s > size]
        return ([max(below)] if below else []) + ([min(above)] if above else [])


def noise_floor(size: Size, weights: Weights, rounds: int) -> float:
    """How far libc seems to be from libc in a run-off of so many rounds: a logarithm.

    The standard error of the median of their differences, from the median of absolute deviations.
    """
    variance = 0.0
    for workload, weight in weights.items():
        if weight > 0:
            middle = median(size.libc[workload])
            spread = 1.4826 * median(abs(x - middle) for x in size.libc[workload])
            variance += (weight * spread) ** 2
    return math.sqrt(math.pi / 2 * 2 * variance / rounds)


class ModelSearch(Search):
    """Start design, batches by expected improvement, the same around the leaders, cuts."""

    def __init__(
        self, race: Race, rigor: Rigor, extended: bool, settings: Settings, memory: Memory
    ) -> None:
        cuts = ((settings.keep[1], 4),)
        super().__init__(race, replace(rigor, screening_samples=1, cuts=cuts), extended)
        self.settings, self.memory = settings, memory
        self.seconds = 0.0  # of the CPU, fitting and predicting
        self.batches = 0
        self._rows = np.array([encode(c) for c in self.space.candidates])
        self._floor = noise_floor(race.size, race.objectives[0], rigor.rounds)
        self._known = memory.nearest(race.size.bytes) if settings.carry_over else []
        self._model = settings.model(race.random.randrange(2**31))

    def explore(self) -> None:
        pool = list(self.space.paper)
        # With what the neighbours taught, half the start is enough.
        start = self.settings.start // (2 if self._known else 1)
        self.screen(self.spread(pool, start))
        self._improve(pool)
        if self.extended:
            for base in self.leaders(self.rigor.bases, self._predicted_rank):
                pool += self.space.around(base)
            pool = sorted(set(pool))
            unseen = [entrant for entrant in pool if entrant not in self.seen]
            self.screen(self.spread(unseen, self.settings.start_extended))
            self._improve(pool)
            for one in self.leaders(self.rigor.planes, self._predicted_rank):
                pool += self.space.plane(one)
            pool = sorted(set(pool))
            self._improve(pool)
        if self.settings.carry_over:
            size = self.race.size.bytes
            self.memory.rows[size], self.memory.targets[size] = self._learnt()
        self._keep_promising()
        self.cut()

    def spread(self, pool: Sequence[int], count: int) -> list[int]:
        """A well-spread part: every lineage in turn, in each the one farthest from those it has."""
        lineages: dict[object, list[int]] = {}
        for entrant in self.race.random.sample(list(pool), len(pool)):
            lineages.setdefault(lineage(self.space.candidates[entrant]), []).append(entrant)
        order = self.race.random.sample(list(lineages.values()), len(lineages))
        chosen: list[int] = []
        by_lineage: dict[int, list[int]] = {i: [] for i in range(len(order))}
        while len(chosen) < count and any(order):
            for i, members in enumerate(order):
                if not members or len(chosen) == count:
                    continue
                mine = by_lineage[i]
                entrant = (
                    max(members, key=lambda e: self._distance(e, mine)) if mine else members[0]
                )
                members.remove(entrant)
                mine.append(entrant)
                chosen.append(entrant)
        return chosen

    def _distance(self, entrant: int, others: Sequence[int]) -> float:
        return float(np.abs(self._rows[others] - self._rows[entrant]).sum(axis=1).min())

    def _learnt(self) -> tuple[np.ndarray, np.ndarray]:
        race = self.race
        targets = [[race.center(e, w) for w in race.workloads] for e in self.alive]
        return self._rows[self.alive], np.array(targets)

    def _fit(self) -> None:
        rows, targets = self._learnt()
        weights = np.array([self.race.samples_of(e) for e in self.alive], dtype=float)
        if self._known:
            # A candidate elsewhere is another point along one more axis.
            here = math.log2(self.race.size.bytes)
            rows = np.column_stack([rows, np.full(len(rows), here)])
            for size in self._known:
                more = self.memory.rows[size]
                more = np.column_stack([more, np.full(len(more), math.log2(size))])
                rows = np.vstack([rows, more])
                targets = np.vstack([targets, self.memory.targets[size]])
            weights = np.append(weights, np.full(len(rows) - len(weights), 0.5))
        self._model.fit(rows, targets, weights)

    def _predict(self, entrants: Sequence[int]) -> np.ndarray:
        rows = self._rows[list(entrants)]
        if self._known:
            here = math.log2(self.race.size.bytes)
            rows = np.column_stack([rows, np.full(len(rows), here)])
        return self._model.draws(rows)

    def _scores(self, draws: np.ndarray, objective: int) -> tuple[np.ndarray, np.ndarray]:
        """Of draws [draw, row, workload]: the weighted means, and which lose nowhere."""
        weights = self.race.objectives[objective]
        counted = [(i, weights.get(w, 0)) for i, w in enumerate(self.race.workloads)]
        mean = sum(x * draws[..., i] for i, x in counted if x > 0)
        worst = np.minimum.reduce([draws[..., i] for i, x in counted if x > 0])
        return mean, worst >= math.log(WORST_RATIO)

    def _expected_gain(self, timed: np.ndarray, untimed: np.ndarray, objective: int) -> np.ndarray:
        """Of each untimed one over the best timed one, as predicted: a logarithm."""
        mean, good = self._scores(timed.mean(axis=0), objective)
        draws, lose_nowhere = self._scores(untimed, objective)
        if not good.any() and not lose_nowhere.any():  # then the mean alone decides
            return np.maximum(draws - mean.max(), 0).mean(axis=0)
        # As long as all that was timed lose somewhere, whoever does not is better than any.
        best = mean[good].max() if good.any() else mean.min()
        return (np.maximum(draws - best, 0) * lose_nowhere).mean(axis=0)

    def _improve(self, pool: Sequence[int]) -> None:
        """Batches, until some in a row promise less than the noise."""
        poor = 0
        while poor < self.settings.patience and self.batches < self.settings.most_batches:
            started = time.process_time()
            self._fit()
            untimed = [entrant for entrant in pool if entrant not in self.seen]
            if not untimed:
                return
            timed = self._predict(self.alive)
            draws = self._predict(untimed)
            batch: list[int] = []
            for objective in range(len(self.race.objectives)):
                gains = self._expected_gain(timed, draws, objective)
                if objective == 0 and gains.max() < self._floor:
                    poor += 1
                elif objective == 0:
                    poor = 0
                batch += self._most_promising(untimed, gains, objective, batch)
            self.seconds += time.process_time() - started
            if poor < self.settings.patience:
                self.batches += 1
                self.screen(batch)

    def _most_promising(
        self, untimed: Sequence[int], gains: np.ndarray, objective: int, taken: Sequence[int]
    ) -> list[int]:
        others = len(self.race.objectives) - 1
        whole = self.settings.batch
        if others == 0:
            places = whole
        else:
            places = whole * 2 // 3 if objective == 0 else max(1, whole // 3 // others)
        order = (untimed[i] for i in np.argsort(-gains, kind="stable"))
        return [e for e, _ in zip((e for e in order if e not in taken), range(places))]

    def _predicted_rank(self, objective: int) -> list[int]:
        """Those in the race as the model sees them: a single sample says less."""
        mean, good = self._scores(self._predict(self.alive).mean(axis=0), objective)
        order = np.lexsort((-mean, ~good))
        return [self.alive[i] for i in order]

    def _keep_promising(self) -> None:
        """Half of the places by what was measured, half by what is predicted; all sampled again."""
        started = time.process_time()
        self._fit()
        half = self.settings.keep[0] // 2
        kept = self.race.best(self.alive, half)
        for objective in range(len(self.race.objectives)):
            places = half if objective == 0 else max(1, self.share(half, objective) // 2)
            kept += self._predicted_rank(objective)[:places]
        self.seconds += time.process_time() - started
        self.alive = list(dict.fromkeys(kept))
        self.race.sample(self.alive, 2)


_QUICK = {"start": 100, "start_extended": 32, "patience": 1, "most_batches": 16, "keep": (24, 12)}
# As many trials as half of what racing at the rigor standard takes.
_THOROUGH = {"start": 400, "start_extended": 128, "patience": 3, "keep": (80, 32)}

# By name: the rigor whose run-off it shares, and how it searches.
MODELS: dict[str, tuple[str, Settings]] = {
    "forest": ("standard", Settings(Forest)),
    "forest quick": ("quick", Settings(Forest, **_QUICK)),
    "forest thorough": ("standard", Settings(Forest, **_THOROUGH)),
    "forest carried over": ("standard", Settings(Forest, carry_over=True)),
    "forest carried quick": ("quick", Settings(Forest, carry_over=True, **_QUICK)),
    "boosted": ("standard", Settings(Boosted)),
    "process": ("standard", Settings(Process)),
}
