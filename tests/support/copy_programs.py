"""Builds and runs the C programs that check rendered copies, and looks into object code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asterope.profile import Choice, Profile, load_profile
from asterope.render import NOTHING, Asks, render_routine
from asterope.spaces import members
from asterope.spaces.probes import SensingCopy
from asterope.spaces.x86_64 import set_pipelines, small_sets
from asterope.spaces.x86_64.pipelines import Tuple
from command_errors import run_command
from conftest import REPOSITORY
from profile_samples import choice, of_memset, profile_of

CHECKERS = REPOSITORY / "tests" / "routine"  # the C programs, and what they share

WARNINGS = ("-Wall", "-Wextra", "-Werror")
STRICT = (*WARNINGS, "-pedantic")
STRICT_C = ("-std=c99", *STRICT)

FUNCTIONS = ("memcpy", "mempcpy", "memmove")
SHORT = ("--step", 29, "--other-step", 31, "--largest", 65536)  # routine_check's grids, thinned

# The end of each interval, and the copy that wins it.
Intervals = Sequence[tuple[int, Tuple]]


class Aliased(NamedTuple):
    """The copy for buffers that alias, and for which sizes."""

    above: int
    up_to: int
    tuple: Any


class Memset(NamedTuple):
    """The input of a routine's memset; what senses by its interval's end."""

    intervals: Sequence[tuple[int, set_pipelines.Tuple]]
    small: small_sets.Tuple | None = None
    sensing: Mapping[int, SensingCopy] | None = None


def need(*tools: str) -> None:
    """Skips the test where one of the tools is missing."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def need_way(folder: Path, compiler: str, *flags: str, on: Sequence[object] = ()) -> None:
    """Skips where this compiler cannot make a program so; `on`: what runs it."""
    need(compiler)
    empty = folder / "empty.c"
    empty.write_text("int main(void) { return 0; }\n", encoding="ascii")
    made = run(compiler, *flags, empty, "-o", folder / "empty", cwd=folder)
    if made.returncode != 0 or run(*on, folder / "empty", cwd=folder).returncode != 0:
        pytest.skip(f"{compiler} {' '.join(flags)} makes no program that runs here")


def cpu_features() -> frozenset[str]:
    """The features that Linux says this CPU has."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return frozenset(re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)[1].split())


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs a command with any exit status; 10 minutes at most."""
    return run_command(*command, timeout=600, **options)


def output_of(*command: object, **options: object) -> str:
    """stdout of a command that must succeed; what it says otherwise fails the test."""
    done = run(*command, **options)
    if done.returncode != 0:
        shown = " ".join(str(part) for part in command)
        pytest.fail(f"{shown}: exit {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)
    return done.stdout


def symbols(file: Path, *options: str, nm: str = "nm") -> dict[str, tuple[str, str]]:
    """The symbols defined in a file: name -> address and nm's letter for its kind."""
    need(nm)
    lines = output_of(nm, "--defined-only", *options, file).splitlines()
    fields = [line.split() for line in lines if len(line.split()) == 3]  # not an archive's headings
    return {name.split("@")[0]: (at, kind) for at, kind, name in fields}


def exported(library: Path, nm: str = "nm") -> set[str]:
    """The symbols that a library defines for others."""
    return {*symbols(library, "-D", nm=nm)}


def compiled(path: Path, text: str, *flags: object) -> Path:
    """Compiles C, which is kept beside it."""
    source = path.with_suffix(".c")
    source.write_text(text, encoding="ascii")
    output_of("cc", *flags, source, "-o", path)
    return path


def shared_library(path: Path, text: str) -> Path:
    """With copies that stay as they are written."""
    return compiled(path, text, "-O1", "-fno-builtin", "-shared", "-fPIC")


def failures(output: str) -> list[str]:
    """The complaints in a checker's output."""
    return [line for line in output.splitlines() if not line.startswith(("ok ", "skip "))]


def assert_right(
    *command: object, sets: bool = False, intents: Iterable[str] = (), **options: object
) -> None:
    """Runs routine_check, alone or in an emulator; `sets`: the routine has memset."""
    done = run(*command, **options)
    wrong = failures(done.stdout)
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0, done.stderr
    functions = [*FUNCTIONS, *(f"memcpy_{name}" for name in intents), *["memset"] * sets]
    assert {f"ok asterope_{function}" for function in functions} <= {*done.stdout.splitlines()}


def _pipelines(
    intervals: Sequence[tuple[int, Any]], sensing: Mapping[int, Any] | None = None, **columns: str
) -> list[dict[str, Any]]:
    choices = []
    for above, (up_to, t) in zip((0, *(end for end, _ in intervals)), intervals):
        copies: dict[str, Any] = {"taken": asdict(t)}
        if sensing and up_to in sensing:
            fields = {k: v for k, v in asdict(sensing[up_to]).items() if v is not None}
            copies = {**fields, "plain": asdict(t)}
        choices.append(choice("pipelines", above, up_to, copies=copies, **columns))
    return choices


def shares_json(*shares: tuple[int, int, int, int]) -> list[dict[str, Any]]:
    """The choices of shares: above, up to, threads, chunk."""
    return [choice("threads", *ends, {"threads": n, "chunk": chunk}) for *ends, n, chunk in shares]


def _stages_json(
    stages: Iterable[tuple[int, int, str, int]], has_memset: bool
) -> Iterable[dict[str, Any]]:
    """The choices of page stages, alike of both operations: above, up to, stage, piece."""
    for make in (choice, of_memset) if has_memset else (choice,):
        for *ends, stage, piece in stages:
            yield make("fresh", *ends, {"stage": stage, "piece": piece})


class Contents(NamedTuple):
    """The input of a routine; sensing copies by their interval's end, intents by name."""

    intervals: Intervals
    small: members.Small | None = None
    aliased: Aliased | None = None
    sensing: Mapping[int, SensingCopy] | None = None
    intents: Mapping[str, Intervals] | None = None
    small_by_intent: Mapping[str, members.Small] | None = None
    overlapping: members.Overlapping | None = None
    memset: Memset | None = None
    shares: Sequence[tuple[int, int, int, int]] = ()
    stages: Sequence[tuple[int, int, str, int]] = ()
    huge_pages: str = ""  # the mode that the stages were timed under; "": not known


def profile_json(*parts: Any, **more: Any) -> str:
    """The text of a profile that has nothing but these Contents."""
    its = Contents(*parts, **more)
    choices = _pipelines(its.intervals, its.sensing)
    if its.small:
        choices.append(choice("small", 0, its.small.bound, asdict(its.small)))
    if its.aliased:
        above, up_to, copy = its.aliased
        choices.append(choice("aliased", above, up_to, asdict(copy)))
    if its.overlapping:
        choices.append(choice("overlapping", 0, its.intervals[-1][0], asdict(its.overlapping)))
    if its.memset:
        choices += _pipelines(its.memset.intervals, its.memset.sensing, operation="memset")
        if small := its.memset.small:
            choices.append(of_memset("small", 0, small.bound, asdict(small)))
    for name, of_intent in (its.intents or {}).items():
        choices += _pipelines(of_intent, intent=name)
    for name, small in (its.small_by_intent or {}).items():
        choices.append(choice("small", 0, small.bound, asdict(small), intent=name))
    architecture = type(its.intervals[0][1]).__module__.split(".")[-2]
    choices += [*shares_json(*its.shares), *_stages_json(its.stages, bool(its.memset))]
    told = {"machine": {"huge_pages": its.huge_pages}} if its.huge_pages else {}
    return json.dumps(profile_of(architecture, *choices, **told))


def with_small_stages(path: Path) -> Profile:
    """The profile with page stages from 4 KiB on: their sizes are a sixteenth of those in the file.
    So check programs need not copy large blocks."""

    def smaller(one: Choice) -> Choice:
        if one.kind != "fresh":
            return one
        copy = replace(one.copy, piece=one.copy.piece // 16)
        return replace(one, above=(one.above + 1) // 16 - 1, up_to=one.up_to // 16, copy=copy)

    profile = load_profile(path)
    return replace(profile, choices=[smaller(one) for one in profile.choices])


def render(
    profile: Path | Intervals,
    folder: Path,
    small: members.Small | None = None,
    prefix: str = "asterope",
    asks: Asks = NOTHING,
    **more: Any,
) -> Path:
    """Renders a profile, a file or one of these Contents, into `folder`, which is created; returns
    the path of the C file."""
    folder.mkdir(parents=True, exist_ok=True)
    if not isinstance(profile, Path):
        path = folder / f"{prefix}.json"
        path.write_text(profile_json(profile, small, **more), encoding="utf-8")
        profile = path
    return write(render_routine(load_profile(profile), prefix, asks), folder)


def write(texts: Mapping[str, str], folder: Path) -> Path:
    """Writes a routine's texts; returns the path of the C file."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="ascii")
    return next(folder / name for name in texts if name.endswith(".c"))


def change(path: Path, changes: Mapping[str, str]) -> None:
    """Replaces in a routine what must stand there once."""
    text = path.read_text(encoding="ascii")
    for before, after in changes.items():
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    path.write_text(text, encoding="ascii")


def with_own_calls(routine: Path, function: str) -> Path:
    """The routine, which has this function make the calls of the system that prepare pages."""
    text = routine.read_text(encoding="ascii")
    text, count = re.subn(r"(?<!long )\basterope_fresh_call\(", f"{function}(", text)
    assert count >= 6
    routine.write_text(text, encoding="ascii")
    return routine


def copies_taken(program: Path, questions: Sequence[tuple], *emulator: object) -> list[list[str]]:
    """The answers of dispatch_check, one process, for each size of each question. A question is a
    function with its prefix, the distance to the destination, sizes, and the source's offset."""
    words: list[object] = []
    for function, distance, sizes, *source_at in questions:
        words += ["--source-at", *(source_at or [0]), function, distance, *sizes]
    taken = iter(output_of(*emulator, program, *words).split())
    return [[next(taken) for _ in question[2]] for question in questions]
