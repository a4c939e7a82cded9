"""The searches that the study compares with: random, and racing as tuner/search.cpp does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from study.candidates import axis, family, lineage
from study.race import Chosen, Race


@dataclass(frozen=True)
class Rigor:
    """As in tuner/search.hpp: how much racing spends on a size."""

    coarse_ps: tuple[int, ...]  # empty: all, and no family is dropped
    coarse_pd: tuple[int, ...]
    families: int
    screening_samples: int
    cuts: tuple[tuple[int, int], ...]  # (keep, samples)
    finalists: int
    rounds: int
    bases: int
    planes: int


RIGORS = {
    "quick": Rigor((2, 8), (0, 8, 20), 4, 1, ((40, 2), (12, 4)), 5, 9, 2, 1),
    "standard": Rigor((2, 6, 12), (0, 4, 12, 24), 10, 1, ((120, 2), (40, 4)), 8, 15, 5, 3),
    "exhaustive": Rigor((), (), 0, 2, ((400, 2), (80, 4)), 10, 21, 24, 8),
}


class Search:
    """One size being searched: what was screened, what is still in the race, and the run-off."""

    def __init__(self, race: Race, rigor: Rigor, extended: bool) -> None:
        self.race, self.rigor, self.extended = race, rigor, extended
        self.space = race.space
        self.seen: set[int] = set()
        self.alive: list[int] = []

    def screen(self, entrants: Sequence[int]) -> None:
        fresh = [entrant for entrant in dict.fromkeys(entrants) if entrant not in self.seen]
        self.seen.update(fresh)
        self.race.sample(fresh, self.rigor.screening_samples)
        self.alive += fresh

    def cut(self) -> None:
        for keep, samples in self.rigor.cuts:
            self.alive = self.race.best(self.alive, keep)
            self.race.sample(self.alive, samples)

    def run_off(self, neighbours: Sequence[Sequence[int]]) -> list[Chosen]:
        """`neighbours`: by objective the winners of the nearest sizes, which win ties."""
        race = self.race
        finalists = race.best(self.alive, self.rigor.finalists)
        by_objective = [race.rank(finalists, i) for i in range(len(race.objectives))]
        leaders = [entrant for ranked in by_objective for entrant in ranked[:2]]
        more = [self.space.without_prefetch(leader, self.seen) for leader in leaders]
        more += [neighbour for some in neighbours for neighbour in some]
        more += self._best_by_axis() if self.extended else []
        finalists += (entrant for entrant in more if entrant is not None)
        return race.run_off(list(dict.fromkeys(finalists)), self.rigor.rounds, neighbours)

    def _best_by_axis(self) -> list[int]:
        """What each axis alone brought for each workload that is an objective of its own."""
        best = []
        for objective, weights in enumerate(self.race.objectives):
            if sum(weight > 0 for weight in weights.values()) != 1:
                continue
            for entrants in (self.seen, self.alive):
                first: dict[str, int] = {}
                for entrant in self.race.rank(sorted(entrants), objective):
                    first.setdefault(axis(self.space.candidates[entrant]), entrant)
                first.pop("several", None)
                best += first.values()
        return best

    def leaders(self, count: int, rank: Callable[[int], Sequence[int]] | None = None) -> list[int]:
        """By objective its best entrants, of no lineage more than one. `rank(objective)`: the best
        first; as the samples have it where none is given.
        """
        first: list[int] = []
        lineages: set[object] = set()
        for objective in range(len(self.race.objectives)):
            places = self.share(count, objective)
            for entrant in rank(objective) if rank else self.race.rank(self.alive, objective):
                if places == 0:
                    break
                kind = lineage(self.space.candidates[entrant])
                if kind not in lineages:
                    lineages.add(kind)
                    first.append(entrant)
                    places -= 1
        return first

    def share(self, count: int, objective: int) -> int:
        """The places of one objective where the first has `count`, and the others as many."""
        return count if objective == 0 else max(1, count // (len(self.race.objectives) - 1))


class Racing(Search):
    """A coarse grid, the best families in full, the extension around the best, cuts."""

    def explore(self) -> None:
        coarse = [e for e in self.space.paper if self._is_coarse(e)]
        self.screen(coarse)
        if len(coarse) < len(self.space.paper):
            families = self._best_families()
            self.screen([e for e in self.space.paper if self._family(e) in families])
        if self.extended:
            for base in self.leaders(self.rigor.bases):
                self.screen(self.space.around(base))
            for one in self.leaders(self.rigor.planes):
                self.screen(self.space.plane(one))
        self.cut()

    def _family(self, entrant: int) -> tuple[str, ...]:
        return family(self.space.candidates[entrant])

    def _is_coarse(self, entrant: int) -> bool:
        one = self.space.candidates[entrant]
        rigor = self.rigor
        if not rigor.coarse_ps or not one.ps:
            return True
        return one.ps in rigor.coarse_ps and one.pd in rigor.coarse_pd

    def _best_families(self) -> set[tuple[str, ...]]:
        families: set[tuple[str, ...]] = set()

        def admit(objective: int, only_acceptable: bool, places: int) -> None:
            for entrant in self.race.rank(self.alive, objective):
                if places == 0:
                    break
                if only_acceptable and not self.race.acceptable(entrant, objective):
                    continue
                if self._family(entrant) in families:
                    continue
                families.add(self._family(entrant))
                places -= self.space.candidates[entrant].ps > 0

        half = self.rigor.families // 2
        admit(0, True, half)
        admit(0, False, self.rigor.families - half)
        for objective in range(1, len(self.race.objectives)):
            admit(objective, False, self.share(self.rigor.families, objective))
        return families


class RandomSearch(Search):
    """Times `count` candidates drawn from all that were recorded, then cuts as racing does."""

    def __init__(self, race: Race, rigor: Rigor, extended: bool, count: int) -> None:
        super().__init__(race, rigor, extended)
        self.count = count

    def explore(self) -> None:
        pool = range(len(self.space.candidates)) if self.extended else self.space.paper
        self.screen(self.race.random.sample(pool, min(self.count, len(pool))))
        self.cut()
