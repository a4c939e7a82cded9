"""Renders the templates: the candidates the tuner times, and the routine a user compiles."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from . import __version__, spaces, workloads
from .c_strings import as_c_macro, as_c_strings
from .provisional import doubt_of
from .spaces import probes, threads
from .spaces.tuples import SHORT_WAY

if TYPE_CHECKING:
    from .profile import Interval, Profile
    from .profile.model import LeftOut, Memset, Timed
    from .spaces.probes import SensingCopy


# The workloads that have an entry point each where a profile has winners of theirs.
INTENTS = workloads.names("entry_point")


def _template_folders(architecture: str) -> list[Path]:
    """The architecture's own, and the one with those that all share."""
    package = Path(__file__).resolve().parent
    for root in (package / "templates", package.parents[1] / "templates"):
        if (root / architecture).is_dir():
            return [root / architecture, root]
    raise FileNotFoundError(f"no templates for {architecture} beside {package}")


def fields(copy: Any) -> Iterable[tuple[str, str | int]]:
    """What a copy is on each axis of its kind."""
    return dataclasses.asdict(copy).items()


@functools.cache
def _environment(architecture: str) -> jinja2.Environment:
    here = spaces.of(architecture)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_template_folders(architecture)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C, not HTML; what a profile may hold is checked before it gets here
    )
    environment.filters["c_strings"] = as_c_strings
    environment.filters["c_macro"] = as_c_macro
    environment.filters["human_size"] = human_size
    environment.filters["fields"] = fields
    environment.globals["axes"] = here.pipelines.AXES
    environment.globals["set_axes"] = here.set_pipelines.AXES
    environment.globals["architecture_title"] = here.TITLE
    environment.globals["stepping_bits"] = here.STEPPING_BITS
    return environment


def rendered(architecture: str, template: str, context: Mapping[str, Any]) -> str:
    """The text of one of the architecture's templates."""
    return _environment(architecture).get_template(template).render(context)


def render_candidates(architecture: str, variants: Iterable[Any] | None = None) -> str:
    """The C file that `asterope-tune` links: every variant, its distances left open.

    With `variants`, only those of the pipelines.
    """
    here = spaces.of(architecture)
    values = here.pipelines.VALUES
    context = {
        "variants": list(here.pipelines.variants() if variants is None else variants),
        "distances": values["pd"],
        "write_distances": [distance for distance in values["pw"] if distance],
        "small_copies": list(here.small_copies.small_tuples()),
        "set_variants": list(here.set_pipelines.variants()),
        "small_sets": list(here.small_sets.small_sets()),
        "plain_set": here.set_pipelines.PLAIN,
        "plain_small_set": here.small_sets.PLAIN,
        "plain": here.pipelines.PLAIN,
        "plain_small": here.small_copies.PLAIN,
        "overlapping": list(here.overlapping_copies.overlapping_tuples()),
        "probes": probes.PROBES,
        "most_threads": threads.MOST_THREADS,
        "least_chunk": threads.LEAST_CHUNK,
        "minimum": here.pipelines.MINIMUM_BYTES,
        "version": __version__,
    }
    return rendered(architecture, "candidates.c.j2", context)


# More would not fit in a line.
MOST_SIZES_NAMED = 4


def human_size(size: int) -> str:
    """Bytes as people write them: 128 B, 8 KiB, 32 MiB; odd sizes stay in bytes."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} B"


def what_is_missing(profile: Profile) -> str:
    """What an incomplete profile left out, in a few words; empty for one that is complete."""
    if profile.complete:
        return ""
    of_memset = profile.memset and profile.memset.left_out
    if profile.left_out is None and of_memset is None:
        return "what the search left out is not known"
    missing = [_left_out(part) for part in (profile.left_out,) if part]
    missing += [f"in memset {_left_out(part)}" for part in (of_memset,) if part]
    return f"the search left out {'; '.join(missing)}"


def _left_out(part: LeftOut) -> str:
    sizes, steps = sorted(part.sizes), list(part.steps)
    if len(sizes) > MOST_SIZES_NAMED:
        steps.insert(
            0, f"{len(sizes)} sizes from {human_size(sizes[0])} to {human_size(sizes[-1])}"
        )
    elif sizes:
        word = "size" if len(sizes) == 1 else "sizes"
        steps.insert(0, f"the {word} {', '.join(map(human_size, sizes))}")
    return "; ".join(steps)


def render_routine(profile: Profile, prefix: str = "asterope") -> dict[str, str]:
    """The routine of a validated profile: file name -> text."""
    routine = parts_of(profile, prefix)
    context = {
        **shared_parts([routine], fallback=False),
        "r": routine,
        "prefix": prefix,
        "profiles": (),
    }
    return {
        f"{prefix}_memcpy.{kind}": rendered(profile.architecture, f"routine.{kind}.j2", context)
        for kind in ("c", "h")
    }


def parts_of(profile: Profile, prefix: str) -> dict[str, Any]:
    """What the templates call `r`: one profile's functions, which begin with `prefix`."""
    here = spaces.of(profile.architecture)
    small_copy = profile.small.tuple if profile.small else here.small_copies.PLAIN
    main_workload = _main_workload(profile)
    steps = _steps(profile.intervals, small_copy.bound, main_workload)
    intent_steps = {
        name: _steps(profile.intents[name].intervals, small_copy.bound, name)
        for name in INTENTS
        if name in profile.intents
    }
    tuples = list(
        dict.fromkeys(
            t
            for step in itertools.chain(steps, *intent_steps.values())
            for t in _pipelines(step["tuple"], step["sensing"])
        )
    )
    needs = {*small_copy.needs, *(feature for t in tuples for feature in t.needs)}
    alias = profile.aliased
    if alias and alias.up_to <= small_copy.bound:
        alias = None  # the small copy does these
    if alias:
        needs |= set(alias.tuple.needs)
    overlapping = (
        profile.overlapping.tuple if profile.overlapping else here.overlapping_copies.PLAIN
    )
    needs |= set(overlapping.needs)
    memset = profile.memset and _memset_parts(profile.memset, here.small_sets.PLAIN, main_workload)
    most_threads = max((share.threads for share in profile.shares), default=1)
    workload = _workload(profile)
    tuned_for = [f"generated by asterope {__version__}"]
    if profile.machine:
        tuned_for.append(f"tuned for {profile.machine['cpu']['brand']}")
    if profile.search:
        tuned_for.append(f"{workload}, {profile.search['finished']}")
    return {
        "prefix": prefix,
        "profile": profile,
        "description": ", ".join(tuned_for),
        "tuned_for": workload,
        "main_workload": main_workload,
        "missing": what_is_missing(profile),
        "doubt": doubt_of(profile.raw),
        "small_copy": small_copy,
        "alias": alias,
        "overlapping": overlapping,
        "small_move": here.small_copies.PLAIN if small_copy.copies_upwards_only else small_copy,
        "steps": steps,
        "intent_steps": intent_steps,
        "tuples": tuples,
        "shares": profile.shares if most_threads > 1 else (),
        "most_threads": most_threads,
        "sensing_above": _sensing_above(profile.intervals),
        # whether the tables need the columns of the axes that the paper lacks
        "extended": any(t.is_marked for t in tuples),
        "needs": sorted(needs),
        "memset": memset,
        "needs_of_all": sorted(needs | set(memset["needs"] if memset else ())),
    }


def _sensing_above(intervals: Sequence[Interval]) -> int:
    """Above so many bytes there may be a probe; 0: there is none."""
    return min((i.above for i in intervals if i.sensing), default=0)


def _memset_parts(memset: Memset, plain_small: Any, workload: str) -> dict[str, Any]:
    """The same of a profile's memset. `plain_small`: its small set where it has none."""
    small = memset.small.tuple if memset.small else plain_small
    steps = _steps(memset.intervals, small.bound, workload)
    tuples = list(dict.fromkeys(step["tuple"] for step in steps))
    return {
        "small": small,
        "small_ratio": memset.small and memset.small.ratio,
        "steps": steps,
        "tuples": tuples,
        "extended": any(t.is_marked for t in tuples),
        "needs": sorted({feature for one in (small, *tuples) for feature in one.needs}),
    }


def shared_parts(routines: Sequence[dict[str, Any]], *, fallback: bool) -> dict[str, Any]:
    """What the templates need of a file with these profiles: what they share, and constants.

    All are of one architecture. `fallback`: the file has functions that run on any CPU. Numbers the
    sensing copies, in the profiles' steps.
    """
    here = spaces.of(routines[0]["profile"].architecture)
    sets = [routine["memset"] for routine in routines if routine["memset"]]
    steps = [step for routine in routines for step in routine["steps"]]
    # Each sensing copy with the pipeline that stands in for it; steps number them from 1 on. What
    # only differs in the stand-in shares the probe of the first of its kind, named by its number.
    senses = list(dict.fromkeys((s["sensing"], s["tuple"]) for s in steps if s["sensing"]))
    for step in steps:
        step["sense"] = step["sensing"] and 1 + senses.index((step["sensing"], step["tuple"]))
    copies = [copy for copy, _ in senses]
    firsts = [1 + copies.index(copy) for copy in copies]
    sharing = [routine for routine in routines if routine["shares"]]
    tuples = list(dict.fromkeys(t for routine in routines for t in routine["tuples"]))
    set_tuples = list(dict.fromkeys(t for part in sets for t in part["tuples"]))
    small_copies = [r[small] for r in routines for small in ("small_copy", "small_move")]
    small_sets = [part["small"] for part in sets]
    minimum = 1 + min(s.bound for s in small_copies)
    set_minimum = 1 + min((s.bound for s in small_sets), default=0)
    # What runs on any CPU meets small sizes only where they can be left to it.
    untuned_small = fallback or any(s.needs for s in small_copies)
    untuned_small_set = fallback or any(s.needs for s in small_sets)
    plain = [here.pipelines.PLAIN] if fallback or any(r["needs"] for r in routines) else []
    plain_set = [here.set_pipelines.PLAIN] if fallback or any(p["needs"] for p in sets) else []
    return {
        "version": __version__,
        "tuples": tuples,
        "small_copies": list(
            dict.fromkeys(small_copies + [here.small_copies.PLAIN] * untuned_small)
        ),
        "small_sets": list(dict.fromkeys(small_sets + [here.small_sets.PLAIN] * untuned_small_set)),
        "untuned_small": untuned_small,
        "untuned_small_set": untuned_small_set,
        # whose way for up to 256 bytes some pipeline has
        "short_ways": (tuples if minimum <= SHORT_WAY else []) + plain,
        "set_short_ways": (set_tuples if set_minimum <= SHORT_WAY else []) + plain_set,
        "senses": [
            (copy, plain, first if first < number else None)
            for number, ((copy, plain), first) in enumerate(zip(senses, firsts), 1)
        ],
        "intents": [
            workload
            for workload in INTENTS
            if any(workload in routine["intent_steps"] for routine in routines)
        ],
        "sensing_above": min(
            (r["sensing_above"] for r in routines if r["sensing_above"]), default=0
        ),
        "least_sensing": probes.MINIMUM_BYTES,
        "shared_above": min((r["shares"][0].above for r in sharing), default=None),
        "most_threads": max((r["most_threads"] for r in sharing), default=1),
        "least_chunk": threads.LEAST_CHUNK,
        "extended": any(routine["extended"] for routine in routines),
        "extended_sets": any(part["extended"] for part in sets),
        "measured": any(step["ratio"] is not None for step in steps),
        "bandwidths": " or ".join(
            dict.fromkeys(
                f"under {r['main_workload']}"
                for r in routines
                if any(step["bandwidth"] is not None for step in r["steps"])
            )
        ),
        "sets": bool(sets),
        "set_tuples": set_tuples,
        "plain_small_set": here.small_sets.PLAIN,
        "plain_set": here.set_pipelines.PLAIN,
        "set_minimum": set_minimum,
        "plain": here.small_copies.PLAIN,
        "plain_move": here.overlapping_copies.PLAIN,
        # the plain one is that of any CPU: of what runs where a profile's does not
        "overlapping": list(
            dict.fromkeys(
                [
                    here.overlapping_copies.PLAIN,
                    *(r["overlapping"] for r in routines),
                    *(r["alias"].tuple for r in routines if r["alias"]),
                ]
            )
        ),
        "portable": here.pipelines.PLAIN,
        # the least that any pipeline copies, in bytes
        "minimum": minimum,
    }


def _steps(intervals: Sequence[Interval], bound: int, workload: str) -> list[dict[str, Any]]:
    """The intervals beyond the small copy's bound; neighbours that take the same are merged.

    `workload`: under which their bandwidth is told.
    """
    steps: list[dict[str, Any]] = []
    first = next((i for i in intervals if i.up_to > bound), intervals[-1])  # small copies do others
    for interval in intervals[intervals.index(first) :]:
        sensing = interval.sensing and interval.sensing.copy
        taken = {"tuple": interval.winner.tuple, "sensing": sensing, "sense": None}
        if not steps or any(steps[-1][key] != taken[key] for key in taken):
            steps.append({**taken, "intervals": []})
        steps[-1]["up_to"] = interval.up_to
        steps[-1]["intervals"].append(interval)
    for step in steps:
        members = step.pop("intervals")
        step.update(_figures([(i.size, i.sensing or i.winner) for i in members], workload))
        step["plain"] = _figures([(i.size, i.winner) for i in members], workload)
    return steps


def _figures(timed: Sequence[tuple[int, Timed]], workload: str) -> dict[str, float | None]:
    """libc's time over that of these copies, and how many bytes a ns they copy under a workload:
    geometric means over their sizes, where all of them were measured.
    """
    ratios = [copy.ratio for _, copy in timed]
    found = [(size, copy.workloads.get(workload)) for size, copy in timed]
    bandwidths = [size / timing.ns if timing and timing.ns else None for size, timing in found]
    return {"ratio": _mean(ratios), "bandwidth": _mean(bandwidths)}


def _mean(values: Sequence[float | None]) -> float | None:
    return None if None in values else math.prod(value ** (1 / len(values)) for value in values)


def _pipelines(winner: Any, sensing: SensingCopy | None) -> list[Any]:
    """What an interval needs, and shows in the head comment."""
    return [winner, *(sensing.all_pipelines if sensing else ())]


def _main_workload(profile: Profile) -> str:
    """The one that counts the most; of several the first."""
    weights = profile.search.get("weights", {})
    return max(weights, key=weights.__getitem__, default=profile.search.get("workload", ""))


def _workload(profile: Profile) -> str:
    """What was tuned for, in words: `balanced`, `hot 1, consume 2` of a mix, or a program."""
    if program := profile.search.get("program"):
        return f"what {program['name']} was recorded to copy"
    weights = profile.search.get("weights", {})
    if profile.search.get("workload") == "weights" and weights:
        return ", ".join(f"{name} {weight:g}" for name, weight in weights.items() if weight)
    return profile.search.get("workload", "unknown")
