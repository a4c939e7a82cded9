"""Builds and runs the C programs that check rendered copies, and looks into object code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from asterope.profile import load_profile
from asterope.render import render_routine
from asterope.space import Tuple

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parent

STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
STRICT_C = ("-std=c99", *STRICT)

# The end of each interval, and the copy that wins it.
Intervals = Sequence[tuple[int, Tuple]]


def need(*tools: str) -> None:
    """Skips the test where one of the tools is missing."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def cpu_features() -> frozenset[str]:
    """The features that Linux says this CPU has."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return frozenset(re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)[1].split())


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs a command whatever its exit status; 10 minutes at most."""
    arguments = [str(part) for part in command]
    return subprocess.run(
        arguments, capture_output=True, text=True, check=False, timeout=600, **options
    )


def output_of(*command: object, **options: object) -> str:
    """stdout of a command that must succeed; what it says otherwise fails the test."""
    done = run(*command, **options)
    if done.returncode != 0:
        shown = " ".join(str(part) for part in command)
        pytest.fail(f"{shown}: exit {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)
    return done.stdout


def failures(output: str) -> list[str]:
    """The complaints in a checker's output."""
    return [line for line in output.splitlines() if not line.startswith(("ok ", "skip "))]


def compiled(folder: Path, name: str, includes: Iterable[Path] = ()) -> Path:
    """The object file of a C source of this folder, made once in `folder`."""
    target = folder / f"{name}.o"
    if not target.exists():
        flags = [f"-I{path}" for path in (TESTS, REPOSITORY / "tuner", *includes)]
        source = TESTS / f"{name}.c"
        output_of("gcc", *STRICT_C, "-O2", *flags, "-c", source, "-o", target)
    return target


# --- Profiles and their routines ------------------------------------------------------------------


def write_profile(intervals: Intervals, path: Path) -> Path:
    above = 0
    entries = []
    for up_to, t in intervals:
        fields = {name: getattr(t, name) for name in ("rt", "lt", "st", "pt", "ps", "pd")}
        entries.append({"above": above, "up_to": up_to, "winner": {"tuple": fields}})
        above = up_to
    profile = {
        "format": "asterope-profile",
        "version": 1,
        "architecture": "x86_64",
        "complete": True,
        "intervals": entries,
    }
    path.write_text(json.dumps(profile), encoding="utf-8")
    return path


def render(profile: Path | Intervals, folder: Path) -> Path:
    """Renders a profile into `folder`, which is created; returns the path of the C file."""
    folder.mkdir(parents=True, exist_ok=True)
    if not isinstance(profile, Path):
        profile = write_profile(profile, folder / "profile.json")
    for name, text in render_routine(load_profile(profile)).items():
        (folder / name).write_text(text, encoding="ascii")
    return folder / "asterope_memcpy.c"


def build_routine_check(
    routine: Path,
    objects: Path,
    compiler: str = "gcc",
    flags: Sequence[str] = ("-O2",),
    link_flags: Sequence[str] = (),
) -> Path:
    """routine_check with the routine compiled so; its checkers are always compiled alike."""
    includes = [routine.parent]
    if not (objects / "routine_check.o").exists():
        compiled(objects, "routine_check", includes)
    target = routine.with_suffix(".o")
    output_of(compiler, *flags, "-c", routine, "-o", target, cwd=routine.parent)
    program = routine.parent / "routine_check"
    harness = (objects / "routine_check.o", compiled(objects, "copy_check"))
    # Again with the flags: some, such as -static and -pg, tell the linker something too.
    output_of(compiler, *flags, *link_flags, target, *harness, "-o", program)
    return program


def build_dispatch_check(routine: Path, flags: Sequence[str] = ()) -> Path:
    """dispatch_check with the routine and a list of its copies."""
    text = routine.read_text(encoding="ascii")
    names = re.findall(r"void (asterope_(?:copy|move)_\w+)\(void\);", text)
    assert names
    folder = routine.parent
    (folder / "copies.inc").write_text("".join(f"COPY({n})\n" for n in names), encoding="ascii")
    program = folder / "dispatch_check"
    source = TESTS / "dispatch_check.c"
    output_of("gcc", "-O2", *STRICT_C, *flags, f"-I{folder}", source, routine, "-o", program)
    return program


# --- Object code ----------------------------------------------------------------------------------

_COPIES = r"asterope_(?:memcpy|mempcpy|memmove|(?:candidate|copy|move)_\w+)"
_PADDING = re.compile(r"(data16 |cs )*(nop\w*|ud2|int3|endbr64|xchg +%ax,%ax)\b")


def instructions(program: Path) -> dict[str, list[str]]:
    """The instructions of each function that copies in a linked program or library.

    Padding is left out, and with it the addresses, which it decides: a jump within the function
    reads `jb <-17>`, 17 instructions back, and one to another function `jbe <its name>`.
    """
    text = output_of("objdump", "-d", "--no-show-raw-insn", program)
    found: dict[str, list[str]] = {}
    for name, body in re.findall(rf"^[0-9a-f]+ <({_COPIES})>:\n((?:.+\n)+)", text, re.MULTILINE):
        index_at: dict[int, int] = {}
        kept: list[str] = []
        for address, instruction in re.findall(r"^ +([0-9a-f]+):\t(.*)$", body, re.MULTILINE):
            index_at[int(address, 16)] = len(kept)  # of padding: that of what follows it
            if not _PADDING.match(instruction):
                kept.append(" ".join(instruction.split()))
        found[name] = [
            _without_addresses(line, name, index_at, here) for here, line in enumerate(kept)
        ]
    return found


def _without_addresses(line: str, function: str, index_at: dict[int, int], here: int) -> str:
    # "jb 401234 <asterope_memcpy+0x34>"
    jump = re.fullmatch(r"(\S+) ([0-9a-f]+) <([\w.@]+)(?:\+0x[0-9a-f]+)?>", line)
    if jump:
        operation, address, target = jump.groups()
        if target == function:
            target = format(index_at[int(address, 16)] - here, "+d")
        return f"{operation} <{target}>"
    # "cmp 0x2dc9(%rip),%rdx # 404018 <asterope_tuned_from>"
    return re.sub(r"-?0x[0-9a-f]+\(%rip\)(.*) # [0-9a-f]+ (<\w+>)", r"\2\1", line)
