"""Does a search that a model guides find as good a copy as racing in half the trials?

Plays random search, racing and models back over recordings of exhaustive searches, and prints for
each what it spent and how much slower than the exhaustive winner its choice is. To run it, in the
repository's root:

    pip install -e '.[study]'
    PYTHONPATH=scripts python -m study.model_search RECORDING...

`README.md` beside this file has the answer. Exit codes: 0, or 2 for arguments or a recording that
cannot be used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import mean

from asterope.atomic_file import write_files

from study.candidates import Space
from study.race import Race, Weights
from study.recording import BadRecording, Size, read_recording
from study.search import RIGORS, Racing, RandomSearch, Search

COUNTED = ("hot", "cold", "consume")
LEGEND = """
trials: a size, those of its run-off included. reached: regret of the best of its finalists. mean,
worst: regret of its choice over sizes and seeds, its losses by the tie rule included. others: mean
regret for each workload by itself. loses: choices that lose more than 3 % in one workload. timing:
seconds a size that the trials took when they were recorded. model: CPU seconds a size for fitting.
"""
# Only where they are asked for: they take about a minute a size for fitting.
SLOW = ("boosted", "process")
# What strategies carry from one size to the next: the models' memory.
Strategy = Callable[[Race, bool, dict], Search]


@dataclass(frozen=True)
class Outcome:
    """What one strategy found for one size with one seed."""

    recording: str
    size: int
    seed: int
    strategy: str
    winner: str
    trials: int
    run_off_trials: int
    reached: float  # the regret of the best of its finalists: what its run-off could have chosen
    regret: float  # of the first objective
    other_regrets: tuple[float, ...]
    loses: bool  # more than allowed in one workload, while the recorded winner does not
    timing_seconds: float  # that the trials would have taken
    modelling_seconds: float


def objectives_of(workload: str, measured: Sequence[str]) -> list[Weights]:
    """As tuner/plan.cpp: the workload, and each of a mix by itself; `measured` ones weigh 0."""
    if workload != "balanced":
        objectives: list[Weights] = [{workload: 1.0}]
    else:
        objectives = [dict.fromkeys(COUNTED, 1 / len(COUNTED)), *({w: 1.0} for w in COUNTED)]
    return [{**dict.fromkeys(measured, 0.0), **weights} for weights in objectives]


def coarse_to_fine(count: int) -> Iterator[int]:
    """The first, the last, then the middles, breadth first: as tuner/size_order.hpp."""
    yield from range(min(count, 1))
    if count > 1:
        yield count - 1
    gaps = deque([(0, count - 1)])
    while gaps:
        low, high = gaps.popleft()
        if high - low > 1:
            middle = (low + high) // 2
            yield middle
            gaps += [(low, middle), (middle, high)]


def strategies() -> dict[str, Strategy]:
    """By name. Models only where scikit-learn is there to fit them."""
    found: dict[str, Strategy] = {}

    def add_random(count: int, rigor: str) -> None:
        found[f"random {count}"] = lambda race, extended, _: RandomSearch(
            race, RIGORS[rigor], extended, count
        )

    def add_racing(rigor: str) -> None:
        found[f"racing {rigor}"] = lambda race, extended, _: Racing(race, RIGORS[rigor], extended)

    add_random(300, "quick")
    add_random(1000, "standard")
    add_random(3000, "standard")
    for rigor in RIGORS:
        add_racing(rigor)
    try:
        from study.model import MODELS, Memory, ModelSearch
    except ModuleNotFoundError as missing:
        print(f"no models without {missing.name}: pip install -e '.[study]'", file=sys.stderr)
        return found

    def add_model(name: str) -> None:
        rigor, settings = MODELS[name]
        found[name] = lambda race, extended, kept: ModelSearch(
            race, RIGORS[rigor], extended, settings, kept.setdefault("memory", Memory())
        )

    for name in MODELS:
        add_model(name)
    return found


def play(
    recording: str,
    sizes: Sequence[Size],
    name: str,
    strategy: Strategy,
    workload: str,
    extended: bool,
    seed: int,
) -> list[Outcome]:
    """One run of a strategy over all sizes, as the tuner would go about them."""
    outcomes: list[Outcome] = []
    winners: dict[int, list[str]] = {}  # by place of the size, by objective
    kept: dict = {}
    for place in coarse_to_fine(len(sizes)):
        size = sizes[place]
        objectives = objectives_of(workload, sorted(size.libc))
        counted = {w for weights in objectives for w, weight in weights.items() if weight}
        space = Space(n for n, samples in size.candidates.items() if counted <= samples.keys())
        race = Race(size, space, objectives, Random(f"{seed} {name} {size.bytes}"))
        search = strategy(race, extended, kept)
        search.explore()
        below = max((p for p in winners if p < place), default=None)
        above = min((p for p in winners if p > place), default=None)
        near = [winners[p] for p in (below, above) if p is not None]
        neighbours = [
            [space.place(by_objective[i]) for by_objective in near] for i in range(len(objectives))
        ]
        chosen = search.run_off([[e for e in some if e is not None] for some in neighbours])
        names = [space.candidates[one.winner].name for one in chosen]
        winners[place] = names
        regrets = [size.regret(n, weights) for n, weights in zip(names, objectives)]
        best = size.winner(objectives[0])
        outcomes.append(
            Outcome(
                recording,
                size.bytes,
                seed,
                name,
                names[0],
                race.trials,
                race.run_off_trials,
                min(
                    size.regret(space.candidates[one].name, objectives[0])
                    for one in chosen[0].ranked
                ),
                regrets[0],
                tuple(regrets[1:]),
                size.loses_nowhere(best, objectives[0])
                and not size.loses_nowhere(names[0], objectives[0]),
                race.seconds,
                getattr(search, "seconds", 0.0),
            )
        )
    return outcomes


def table(outcomes: Sequence[Outcome]) -> str:
    """One line a strategy, in the order in which they first come."""
    lines = [
        f"{'strategy':22} {'trials':>7} {'run-off':>7} {'reached':>7} {'mean':>7} {'worst':>7} "
        f"{'others':>7} {'loses':>5} {'timing':>7} {'model':>6}"
    ]
    for name in dict.fromkeys(o.strategy for o in outcomes):
        rows = [o for o in outcomes if o.strategy == name]
        others = [regret for o in rows for regret in o.other_regrets]
        lines.append(
            f"{name:22} {mean(o.trials for o in rows):7.0f} "
            f"{mean(o.run_off_trials for o in rows):7.0f} "
            f"{mean(o.reached for o in rows):7.2%} "
            f"{mean(o.regret for o in rows):7.2%} {max(o.regret for o in rows):7.2%} "
            f"{f'{mean(others):7.2%}' if others else '':7} "
            f"{sum(o.loses for o in rows):5} "
            f"{mean(o.timing_seconds for o in rows):7.2f} "
            f"{mean(o.modelling_seconds for o in rows):6.2f}"
        )
    return "\n".join(lines) + "\n" + LEGEND


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="model_search", description=__doc__.partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument("recordings", type=Path, nargs="+", metavar="RECORDING")
    parser.add_argument("--workload", choices=("balanced", *COUNTED), default="balanced")
    parser.add_argument("--space", choices=("paper", "extended"), default="extended")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each strategy (default: 3)")
    parser.add_argument(
        "--strategies", metavar="NAMES", help="commas in between (default: all but the slow models)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="every outcome, for the record")
    options = parser.parse_args(arguments)

    known = strategies()
    asked = (
        options.strategies.split(",") if options.strategies else [n for n in known if n not in SLOW]
    )
    for name in asked:
        if name not in known:
            parser.error(f"strategy {name!r} is unknown: choose from {', '.join(known)}")
    if options.seeds < 1:
        parser.error(f"--seeds {options.seeds} runs nothing: give 1 or more")

    outcomes: list[Outcome] = []
    for path in options.recordings:
        try:
            sizes = read_recording(path)
        except (BadRecording, OSError) as error:
            print(f"model_search: {error}", file=sys.stderr)
            return 2
        for name in asked:
            for seed in range(1, options.seeds + 1):
                if sys.stderr.isatty():
                    print(f"\r\033[K{path.name}: {name}, seed {seed}", end="", file=sys.stderr)
                outcomes += play(
                    path.name,
                    sizes,
                    name,
                    known[name],
                    options.workload,
                    options.space == "extended",
                    seed,
                )
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(
        f"{', '.join(path.name for path in options.recordings)}: workload {options.workload}, "
        f"{options.space} space, {options.seeds} seeds\n"
    )
    print(table(outcomes), end="")
    if options.json:
        text = json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n"
        write_files(options.json.parent, {options.json.name: text})
    return 0


if __name__ == "__main__":
    sys.exit(main())
