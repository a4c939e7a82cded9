"""Renders the templates: the candidates the tuner times, and the routine a user compiles.

Usage: python -m asterope.render ARCHITECTURE OUTPUT (a build step: writes the C file of candidates)
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from . import __version__, spaces, workloads
from .c_strings import as_c_macro, as_c_strings
from .provisional import doubt_of
from .spaces import fresh, probes, threads
from .spaces.kinds import MEMCPY, MEMSET, OPERATIONS, OTHERS, kinds_of, spaces_of

if TYPE_CHECKING:
    from .profile import Choice, Profile


# The workloads that have an entry point each where a profile has winners of theirs.
INTENTS = workloads.names("entry_point")

FRESH = "fresh"
# All entry points besides the plain functions: those, and that for fresh memory.
ENTRIES = (*INTENTS, FRESH)


def template_folder() -> Path:
    """The folder of the templates that all architectures share."""
    package = Path(__file__).resolve().parent
    for root in (package / "templates", package.parents[1] / "templates"):
        if root.is_dir():
            return root
    raise FileNotFoundError(f"no templates beside {package}")


def fields(copy: Any) -> Iterable[tuple[str, str | int]]:
    """The value of a copy on each axis of its kind."""
    return dataclasses.asdict(copy).items()


@functools.cache
def _environment(architecture: str) -> jinja2.Environment:
    here = spaces.of(architecture)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template_folder() / architecture, template_folder()]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C, not HTML; a profile's texts were checked before
    )
    environment.filters.update(
        c_strings=as_c_strings, c_macro=as_c_macro, human_size=human_size, fields=fields
    )
    environment.globals["axes"] = here.pipelines.AXES
    environment.globals["architecture_title"] = here.TITLE
    environment.globals["stepping_bits"] = here.STEPPING_BITS
    environment.globals["heeded_below"] = here.HEEDED_BELOW
    # by the operations' names: the small ones of any CPU; the operations without a source
    plain = {one.name: kinds_of(here)[one.name, "small"].PLAIN for one in OPERATIONS}
    environment.globals["plain_small_of"] = plain
    environment.globals["sets"] = [name for name, small in plain.items() if not small.loads]
    return environment


def rendered(architecture: str, template: str, context: Mapping[str, Any]) -> str:
    """The text of one of the architecture's templates."""
    return _environment(architecture).get_template(template).render(context)


def render_candidates(architecture: str, variants: Iterable[Any] | None = None) -> str:
    """The C file that `asterope-tune` links: every variant, its distances left open.

    With `variants`, only those of the pipelines.
    """
    here = spaces.of(architecture)
    values, kinds = here.pipelines.VALUES, kinds_of(here)
    context = {
        "operations": [(one, *_pipelines_of(kinds, one.name)) for one in OPERATIONS],
        "variants": {one.name: kinds[one.name, "pipelines"].variants() for one in OPERATIONS},
        "distances": values["pd"],
        "write_distances": [distance for distance in values["pw"] if distance],
        "kinds": [
            (kind, list(space.points())) for kind, space in spaces_of(here) if kind.functions
        ],
        "overlapping": list(here.overlapping_copies.points()),
        "most_threads": threads.MOST_THREADS,
        "least_chunk": threads.LEAST_CHUNK,
        "minimum": here.pipelines.MINIMUM_BYTES,
        "version": __version__,
    }
    if variants is not None:
        context["variants"][MEMCPY] = tuple(variants)
    return rendered(architecture, "candidates.c.j2", context)


def _pipelines_of(kinds: Mapping[tuple[str, str], Any], operation: str) -> tuple[Any, Any]:
    """The pipelines of an operation, and its small copies."""
    return kinds[operation, "pipelines"], kinds[operation, "small"]


# More would not fit in a line.
MOST_SIZES_NAMED = 4


def human_size(size: int) -> str:
    """Bytes as people write them: 128 B, 8 KiB, 32 MiB; odd sizes stay in bytes."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} B"


def what_is_missing(profile: Profile) -> str:
    """The parts that an incomplete profile left out, in a few words; empty for a complete one."""
    if profile.complete:
        return ""
    if not profile.left_out:
        return "what the search left out is not known"
    missing = [
        ("" if operation == MEMCPY else f"in {operation} ") + _left_out(part)
        for operation, part in profile.left_out.items()
    ]
    return f"the search left out {'; '.join(missing)}"


def _left_out(part: Mapping[str, Sequence[Any]]) -> str:
    sizes, steps = sorted(part.get("sizes", ())), list(part.get("steps", ()))
    if len(sizes) > MOST_SIZES_NAMED:
        steps.insert(
            0, f"{len(sizes)} sizes from {human_size(sizes[0])} to {human_size(sizes[-1])}"
        )
    elif sizes:
        word = "size" if len(sizes) == 1 else "sizes"
        steps.insert(0, f"the {word} {', '.join(map(human_size, sizes))}")
    return "; ".join(steps)


@dataclasses.dataclass(frozen=True)
class Asks:
    """What memmove and memset ask behind their small copies, where they are templates/preload.c's.

    `by_place`: the least size with which they ask templates/by_place.h, 0 for never. `everywhere`:
    whether large ones ask if pages are to be prepared for all of them (ASTEROPE_FRESH).
    """

    by_place: int = 0
    everywhere: bool = True


NOTHING = Asks(everywhere=False)  # as in a program


def render_routine(
    profile: Profile, prefix: str = "asterope", asks: Asks = NOTHING
) -> dict[str, str]:
    """The routine of a validated profile: file name -> text."""
    routine = parts_of(profile, prefix, asks)
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


def parts_of(profile: Profile, prefix: str, asks: Asks) -> dict[str, Any]:
    """One profile's functions, which begin with `prefix`. The templates call them `r`."""
    here = spaces.of(profile.architecture)
    small = profile.the("small")
    own = _parts(profile, MEMCPY, asks)
    bound = own["small"].bound
    alias = profile.the("aliased")
    if alias and alias.up_to <= bound:
        alias = None  # the small copy does these
    overlapping = profile.the("overlapping")
    move = overlapping.copy if overlapping else here.overlapping_copies.PLAIN
    small_move = here.small_copies.PLAIN if own["small"].copies_upwards_only else own["small"]
    needs = {*own["needs"], *move.needs, *(alias.copy.needs if alias else ())}
    others = [
        {**_parts(profile, one.name, asks), "name": one.name, "prefix": prefix}
        for one in OTHERS
        if profile.has(one.name)
    ]
    # from the first size on that is shared
    shares = _joined(profile.of("threads"), lambda share: share.threads > 1)
    workload = _workload(profile)
    tuned_for = [f"generated by asterope {__version__}"]
    if profile.machine:
        tuned_for.append(f"tuned for {profile.machine['cpu']['brand']}")
    if profile.search:
        tuned_for.append(f"{workload}, {profile.search['finished']}")
    return {
        **own,
        "prefix": prefix,
        "profile": profile,
        "description": ", ".join(tuned_for),
        "tuned_for": workload,
        "missing": what_is_missing(profile),
        "doubt": doubt_of(profile.raw),
        "alias": alias,
        "overlapping": move,
        "overlapping_ratio": overlapping and overlapping.evidence.get("ratio"),
        # choices for small sizes in a profile without small copies of its own
        "stood_in_for": [
            choice
            for choice in profile.of("pipelines")
            if not small and choice.up_to <= bound and not choice.sensing
        ],
        "small_move": small_move,
        "small_copies": [*own["small_copies"], small_move],
        "shares": shares,
        "most_threads": max((share.copy.threads for share in shares), default=1),
        "needs": sorted(needs),
        "others": others,
        "needs_of_all": sorted(needs.union(*(other["needs"] for other in others))),
    }


def _parts(profile: Profile, operation: str, asks: Asks) -> dict[str, Any]:
    """The values that the templates need of each operation alike."""
    choices = profile.of("pipelines", operation)
    measured = profile.the("small", operation)
    plain = kinds_of(spaces.of(profile.architecture))[operation, "small"].PLAIN
    small = measured.copy if measured else plain
    steps = _steps(choices, small.bound)
    intent_small, intent_steps = {}, {}
    for intent in INTENTS:
        if rows := profile.of("pipelines", operation, intent):
            own = profile.the("small", operation, intent)
            intent_small[intent] = own.copy if own else small
            intent_steps[intent] = _steps(rows, intent_small[intent].bound)
    small_copies = list(dict.fromkeys((small, *intent_small.values())))
    every_step = itertools.chain(steps, *intent_steps.values())
    tuples = list(dict.fromkeys(t for step in every_step for t in step["tuples"]))
    stages = _stages(profile, operation, steps)
    return {
        "by_place": asks.by_place,
        "everywhere": asks.everywhere and bool(stages),
        "small": small,
        "small_ratio": measured and measured.evidence.get("ratio"),
        "steps": steps,
        "intent_steps": intent_steps,
        "intent_small": intent_small,
        # all that its functions take
        "small_copies": small_copies,
        "tuples": tuples,
        "stages": stages,
        # the first letter of the mode that its huge pages are for; "": they are asked for in any
        "mode": next((one["mode"] for one in stages if one["mode"]), ""),
        # Above so many bytes a copy may sense; 0: at no size.
        "sensing_above": min((one.above for one in choices if one.sensing), default=0),
        # whether the tables need the columns of the axes that the paper lacks
        "extended": any(t.marked_words for t in tuples),
        "needs": sorted({feature for one in (*small_copies, *tuples) for feature in one.needs}),
    }


def _stages(
    profile: Profile, operation: str, steps: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The page stages, from the first size on that has one; neighbours joined.

    A piece is cached when it is copied: `pipeline` is the row's for cached sources of that size.
    Huge pages are only asked for under the `mode` that they were timed under, where that is known.
    Under another one `other_piece` populates, with its own pipeline.
    """

    def pipeline_of(size: int) -> Any:
        step = next((step for step in steps if size <= step["up_to"]), steps[-1])
        return step["sensing"].hot if step["sensing"] else step["tuple"]

    choices = _joined(profile.of(FRESH, operation), lambda stage: stage.piece > 0)
    mode = _mode_of_huge_pages(profile)
    stages = []
    for one in choices:
        other = _piece_populated(one, choices)
        stages.append(
            {
                "above": one.above,
                "up_to": one.up_to,
                "page_stage": one.copy,
                "ratio": one.evidence["ratio"],
                "pipeline": pipeline_of(min(one.copy.piece, one.up_to)),
                "mode": mode if one.copy.stage in fresh.ASKING else "",
                "other_piece": other,
                "other_pipeline": pipeline_of(min(other, one.up_to)),
            }
        )
    return stages


def _mode_of_huge_pages(profile: Profile) -> str:
    """The first letter of the mode of huge pages under which the profile was made; "": not known.

    In a merged profile, all machines must have had the same mode.
    """
    merged = profile.raw.get("merged", {}).get("sources", ())
    machines = (profile.machine, *(one["machine"] for one in merged))
    first, *others = {one.get("huge_pages") for one in machines}
    return first[0] if first in fresh.MODES and not others else ""


def _piece_populated(one: Choice, choices: Sequence[Choice]) -> int:
    """The best piece that the profile knows for populating a choice's pages: that of its fastest
    such runner-up, else of the nearest size that populates, else its own."""
    others = [o for o in one.evidence["runners_up"] if o["tuple"]["stage"] == fresh.POPULATE]
    if others:
        return max(others, key=lambda other: other.get("ratio", 0))["tuple"]["piece"]
    near = [choice for choice in choices if choice.copy.stage == fresh.POPULATE]
    nearest = min(near, key=lambda choice: abs(math.log(choice.up_to / one.up_to)), default=one)
    return nearest.copy.piece


def _joined(choices: Iterable[Choice], does: Callable[[Any], bool]) -> list[Choice]:
    """From the first one on that does anything; neighbours that do the same are one."""
    joined: list[Choice] = []
    begun = itertools.dropwhile(lambda one: not does(one.copy), choices)
    for _, grouped in itertools.groupby(begun, lambda one: one.copy):
        rows = list(grouped)
        evidence = {
            "ratio": _figures([one.evidence for one in rows])["ratio"],
            "runners_up": [o for one in rows for o in one.evidence.get("runners_up", ())],
        }
        joined.append(dataclasses.replace(rows[0], up_to=rows[-1].up_to, evidence=evidence))
    return joined


def shared_parts(routines: Sequence[dict[str, Any]], *, fallback: bool) -> dict[str, Any]:
    """The values that the templates need of a file with these profiles: shared ones, and constants.

    All are of one architecture. `fallback`: the file has functions that run on any CPU. Numbers the
    sensing copies, in the profiles' steps.
    """
    here = spaces.of(routines[0]["profile"].architecture)
    parts: dict[str, list[dict[str, Any]]] = {MEMCPY: list(routines)}
    for other in itertools.chain(*(routine["others"] for routine in routines)):
        parts.setdefault(other["name"], []).append(other)
    every_part = [part for own in parts.values() for part in own]
    steps = [step for routine in routines for step in routine["steps"]]
    senses = _numbered_senses(parts)
    sharing = [routine for routine in routines if routine["shares"]]
    # the plain one runs on any CPU, also where a profile's do not
    overlapping = list(
        dict.fromkeys(
            [
                here.overlapping_copies.PLAIN,
                *(r["overlapping"] for r in routines),
                *(r["alias"].copy for r in routines if r["alias"]),
            ]
        )
    )
    return {
        "version": __version__,
        "operations": {
            operation: {
                **_shared(here, operation, own, fallback),
                "senses": [one for one in senses if one.operation == operation],
                "overlapping": overlapping if operation == MEMCPY else (),
            }
            for operation, own in parts.items()
        },
        "parts_of": parts,
        "senses": senses,
        "intents": [
            workload
            for workload in INTENTS
            if any(workload in routine["intent_steps"] for routine in routines)
        ],
        "sensing_above": min(
            (part["sensing_above"] for part in every_part if part["sensing_above"]), default=0
        ),
        "least_sensing": probes.MINIMUM_BYTES,
        "shared_above": min((r["shares"][0].above for r in sharing), default=None),
        "most_threads": max((r["most_threads"] for r in sharing), default=1),
        "least_chunk": threads.LEAST_CHUNK,
        # Above so many bytes an operation may have a page stage, by its name; others never have.
        "staged_above": {
            name: min(part["stages"][0]["above"] for part in own if part["stages"])
            for name, own in parts.items()
            if any(part["stages"] for part in own)
        },
        # whether huge pages are only asked for under a certain mode of them
        "asks_mode": any(part["mode"] for part in every_part),
        # whether the functions of some operation ask if pages are to be prepared
        "everywhere": any(part["everywhere"] for part in every_part),
        "extended": any(routine["extended"] for routine in routines),
        "measured": any(step["ratio"] is not None for step in steps),
        "bandwidths": any(step["bandwidth"] is not None for step in steps),
        "has_memset": MEMSET in parts,
        "others": [one for one in OTHERS if one.name in parts],
        "plain_move": here.overlapping_copies.PLAIN,
    }


@dataclasses.dataclass(frozen=True)
class Sensing:
    """A copy or set that senses, with the pipeline that stands in for it without a counter.

    `first`: the number of another one that only differs in the stand-in, and has the probe of both.
    """

    operation: str
    number: int
    copy: probes.SensingCopy
    plain: Any
    first: int | None


def _numbered_senses(parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Sensing]:
    """All that sense, by operation. Writes the number of each, from 1 on, into the steps."""
    found: dict[tuple[str, Any, Any], Sensing] = {}
    firsts: dict[tuple[str, Any], int] = {}
    for operation, own in parts.items():
        for step in (step for part in own for step in part["steps"] if step["sensing"]):
            copy, plain = step["sensing"], step["tuple"]
            number = 1 + len(found)
            known = firsts.get((operation, copy))
            new = Sensing(operation, number, copy, plain, known)
            step["sense"] = found.setdefault((operation, copy, plain), new).number
            firsts.setdefault((operation, copy), number)
    return list(found.values())


def _shared(
    here: Any, operation: str, parts: Sequence[dict[str, Any]], fallback: bool
) -> dict[str, Any]:
    """The parts that the functions of an operation share in a file with these `parts`."""
    pipelines, small_space = _pipelines_of(kinds_of(here), operation)
    tuples = list(dict.fromkeys(t for part in parts for t in part["tuples"]))
    small = [one for part in parts for one in part["small_copies"]]
    minimum = 1 + min(s.bound for s in small)
    # The portable copy gets small sizes from the fallback, and from small copies with needs.
    untuned_small = fallback or any(s.needs for s in small)
    untuned = fallback or any(part["needs"] for part in parts)
    return {
        "name": operation,
        "tuples": tuples,
        "small": list(dict.fromkeys(small + [small_space.PLAIN] * untuned_small)),
        "untuned": untuned,
        "untuned_small": untuned_small,
        # the tuples that have a short way
        "short_ways": [t for t in tuples if minimum <= t.short_way] + [pipelines.PLAIN] * untuned,
        "plain": pipelines.PLAIN,
        "plain_small": small_space.PLAIN,
        # the least that any pipeline does, in bytes
        "minimum": minimum,
    }


def _steps(choices: Sequence[Choice], bound: int) -> list[dict[str, Any]]:
    """The pipelines beyond the small copy's bound; neighbours that take the same are merged."""
    beyond = [one for one in choices if one.up_to > bound] or choices[-1:]
    steps: list[dict[str, Any]] = []
    for (copy, sensing), grouped in itertools.groupby(beyond, lambda o: (o.copy, o.sensing)):
        rows = list(grouped)
        steps.append(
            {
                "tuple": copy,
                "sensing": sensing,
                "sense": None,
                # all that it may go on with
                "tuples": (copy, *(sensing.all_pipelines if sensing else ())),
                "up_to": rows[-1].up_to,
                **_figures([one.evidence for one in rows]),
                "plain": _figures([one.plain for one in rows]),
                # a way that senses has the name of the workload that shows its bandwidth
                "ways": {
                    way: {"ratio": None, "bandwidth": _most([one.rate(way) for one in rows])}
                    for way in probes.WAYS
                },
            }
        )
    return steps


def _figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The geometric mean ratio of several rows, if all were measured, and the highest bandwidth."""
    ratios = [row.get("ratio") for row in rows]
    return {
        "ratio": None
        if None in ratios
        else math.prod(ratio ** (1 / len(rows)) for ratio in ratios),
        "bandwidth": _most([row.get("gb_per_s") for row in rows]),
    }


def _most(values: Sequence[float | None]) -> float | None:
    return None if None in values else max(values)


def _workload(profile: Profile) -> str:
    """The workload that was tuned for, in words: `balanced`, or `hot 1, consume 2` of a mix."""
    weights = profile.search.get("weights", {}).get(MEMCPY, {})
    if profile.search.get("workload") == "weights" and weights:
        return ", ".join(f"{name} {weight:g}" for name, weight in weights.items() if weight)
    return profile.search.get("workload", "unknown")


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(render_candidates(sys.argv[1]), encoding="ascii")
