"""The candidates of a recording in the tuner's order, and what the tuner tries around one of them.

The same rules as tuner/space.cpp: a study that searched differently would not speak of the tuner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from asterope.space import (
    DIRECT,
    PREFETCH_DISTANCES,
    VECTORS,
    WRITE_DISTANCES,
    Tuple,
    Variant,
    variants,
)


def _distances(variant: Variant) -> Iterator[tuple[int, int]]:
    for pd in PREFETCH_DISTANCES if variant.ps else (0,):
        for pw in WRITE_DISTANCES[1:] if variant.pw else (0,):
            yield pd, pw


def _tuple(variant: Variant, pd: int, pw: int) -> Tuple:
    v = variant
    return Tuple(v.rt, v.lt, v.st, v.pt, v.ps, pd, v.tb, v.pi, pw, v.dir)


@lru_cache(maxsize=1)
def everything() -> dict[str, Tuple]:
    """Every candidate that there is, by name; simplest first, as ties break."""
    return {
        candidate.name: candidate
        for variant in variants()
        for candidate in (_tuple(variant, pd, pw) for pd, pw in _distances(variant))
    }


def axis(candidate: Tuple) -> str:
    """What it has beyond the paper's tuples: one axis, or `paper` for none, `several` for more."""
    axes = [
        name
        for name, beyond in (
            ("movdir64b", candidate.rt == DIRECT),
            ("tb", candidate.tb != 2),
            ("pi", candidate.pi != 1),
            ("pw", candidate.pw != 0),
            ("dir", candidate.dir != "up"),
        )
        if beyond
    ]
    return axes[0] if len(axes) == 1 else "several" if axes else "paper"


def family(candidate: Tuple | Variant) -> tuple[str, ...]:
    return candidate.rt, candidate.lt, candidate.st, candidate.pt


def _extension(one: Tuple | Variant) -> tuple[int, int, bool, str]:
    return one.tb, one.pi, one.pw > 0, one.dir


def lineage(candidate: Tuple) -> tuple:
    """Those that differ only in prefetch size and prefetch distance are one."""
    return (*family(candidate), candidate.tb, candidate.pi, candidate.pw, candidate.dir)


@lru_cache(maxsize=1)
def _families() -> dict[tuple[str, ...], list[Variant]]:
    """All variants, simplest first, by family."""
    families: dict[tuple[str, ...], list[Variant]] = {}
    for variant in variants():
        families.setdefault(family(variant), []).append(variant)
    return families


class Space:
    """The recorded candidates of one size: entrants are places in `candidates`."""

    def __init__(self, names: Iterable[str]) -> None:
        """Raises KeyError for a name that is no candidate's."""
        recorded = set(names)
        for name in recorded:
            everything()[name]
        self.candidates = [c for name, c in everything().items() if name in recorded]
        self._places = {candidate: i for i, candidate in enumerate(self.candidates)}
        self.paper = [i for i, c in enumerate(self.candidates) if c.departures == 0]
        # What the machine has, as far as the recording shows.
        self._features = {need for candidate in self.candidates for need in candidate.needs}

    def place(self, name: str) -> int | None:
        """The entrant of that name, None where it was not recorded."""
        return self._places.get(everything()[name])

    def around(self, entrant: int) -> list[int]:
        """The extension axes around a candidate, as far as they were recorded."""
        best = self.candidates[entrant]
        found = self._nearest_of_each((best.rt, best.lt, best.st, best.pt), best.ps)
        if best.lt == "NT":
            found += self._nearest_of_each((best.rt, "T", best.st, best.pt), best.ps)
        if best.rt in VECTORS and best.st == "NT":
            found += self._nearest_of_each((DIRECT, "T", best.st, best.pt), best.ps)
        return self._recorded(
            _tuple(variant, best.pd, pw)
            for variant in found
            for pw in (WRITE_DISTANCES[1:] if variant.pw else (0,))
        )

    def plane(self, entrant: int) -> list[int]:
        """Every prefetch size and distance with the other parameters of a candidate."""
        one = self.candidates[entrant]
        return self._recorded(
            _tuple(variant, pd, one.pw)
            for variant in _families()[family(one)]
            if _extension(variant) == _extension(one)
            for pd in (PREFETCH_DISTANCES if variant.ps else (0,))
        )

    def without_prefetch(self, entrant: int, among: Iterable[int]) -> int | None:
        """The same without its prefetch stage, where that is `among` them."""
        one = self.candidates[entrant]

        def rest(c: Tuple) -> tuple:
            return c.rt, c.lt, c.st, c.tb, c.pi, c.pw, c.dir

        plain = (i for i in sorted(among) if not self.candidates[i].ps)
        return next((i for i in plain if rest(self.candidates[i]) == rest(one)), None)

    def _recorded(self, candidates: Iterable[Tuple]) -> list[int]:
        return sorted(self._places[c] for c in candidates if c in self._places)

    def _nearest_of_each(self, kind: tuple[str, ...], ps: int) -> list[Variant]:
        """One for each point of the extension axes: of the nearest prefetch size, the shorter."""
        chosen: dict[tuple, Variant] = {}
        for variant in _families().get(kind, ()):
            if variant.departures == 0 or not self._features.issuperset(variant.needs):
                continue
            other = chosen.get(_extension(variant))
            if other is None or abs(variant.ps - ps) < abs(other.ps - ps):
                chosen[_extension(variant)] = variant
        return list(chosen.values())
