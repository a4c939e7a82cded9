"""Renders the templates: the candidates the tuner times, and the routine a user compiles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from . import __version__, small_space, space

if TYPE_CHECKING:
    from .profile import Profile


def _template_folder(architecture: str) -> Path:
    package = Path(__file__).resolve().parent
    for root in (package / "templates", package.parents[1] / "templates"):
        if (root / architecture).is_dir():
            return root / architecture
    raise FileNotFoundError(f"no templates for {architecture} beside {package}")


def as_c_strings(assembly: str, indent: int = 8) -> str:
    """Assembly text as the string literals of an asm statement; `//` lines become C comments."""
    lines = []
    for line in assembly.strip().splitlines():
        line = line.strip()
        if line.startswith("//"):
            lines.append(f"/* {line[2:].strip()} */")
        elif line.endswith(":"):
            lines.append(f'"{line}\\n"')
        elif line:
            lines.append(f'"    {line}\\n"')
    return ("\n" + " " * indent).join(lines)


def _environment(architecture: str) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_template_folder(architecture)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C, not HTML; what a profile may hold is checked before it gets here
    )
    environment.filters["c_strings"] = as_c_strings
    return environment


def render_candidates(architecture: str = "x86_64") -> str:
    """The C file that `asterope-tune` links: every variant, its distance left open."""
    return (
        _environment(architecture)
        .get_template("candidates.c.j2")
        .render(
            variants=list(space.variants()),
            distances=space.PREFETCH_DISTANCES,
            small_copies=list(small_space.small_tuples()),
            gates=[64, *small_space.BOUNDS],
            version=__version__,
        )
    )


def human_size(size: int) -> str:
    """Bytes as people write them: 128 B, 8 KiB, 32 MiB; odd sizes stay in bytes."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} B"


def render_routine(profile: Profile, prefix: str = "asterope") -> dict[str, str]:
    """The routine of a validated profile: file name -> text."""
    steps: list[dict[str, object]] = []  # neighbouring intervals of one winner merged
    for interval in profile.intervals:
        if steps and steps[-1]["tuple"] == interval.winner.tuple:
            steps[-1]["up_to"] = interval.up_to
        else:
            steps.append({"up_to": interval.up_to, "tuple": interval.winner.tuple})
    small_copy = profile.small.tuple if profile.small else small_space.PLAIN
    while len(steps) > 1 and steps[0]["up_to"] <= small_copy.bound:
        del steps[0]  # the small copy does these
    pipelines = list(dict.fromkeys(step["tuple"] for step in steps))
    needs = {t.needs for t in pipelines if t.needs} | set(small_copy.needs)
    context = {
        "profile": profile,
        "prefix": prefix,
        "version": __version__,
        "small_copy": small_copy,
        # rep movsb copies upwards only, so a move must not take it
        "small_move": small_space.PLAIN if small_copy.shape == "rep" else small_copy,
        "plain": small_space.PLAIN,
        "gates": [64, small_copy.bound] if small_copy.needs else [],
        "steps": steps,
        "pipelines": pipelines,
        "portable": space.Tuple("XMM", "T", "T", "none", 0, 0),
        "needs": sorted(needs),
        "minimum": space.MINIMUM_BYTES,
        "human_size": human_size,
    }
    environment = _environment(profile.architecture)
    return {
        f"{prefix}_memcpy.{kind}": environment.get_template(f"routine.{kind}.j2").render(context)
        for kind in ("c", "h")
    }
