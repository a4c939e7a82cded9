"""A name under which LD_PRELOAD takes a library, for any path of the library."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .faults import BadInput, one_line

# Each is removed when this process ends, unless it becomes another program.
_folders: list[tempfile.TemporaryDirectory[str]] = []


def preloadable(library: Path, folder: Path | None = None) -> Path:
    """The library, or a link to it where the path has a blank or a colon, at which ld.so splits
    LD_PRELOAD. The link lies in `folder`, else in one of `_folders`. Raises BadInput."""
    if not _is_split(library):
        return library
    if folder is None:
        _folders.append(tempfile.TemporaryDirectory(prefix="asterope-preload-"))
        folder = Path(_folders[-1].name)
    link = folder / library.name.replace(" ", "_").replace(":", "_")
    if _is_split(link):
        raise BadInput(
            f"{one_line(folder)}: LD_PRELOAD takes no path with a blank or a colon: have TMPDIR "
            "name a folder without"
        )
    link.symlink_to(library)
    return link


def preload_line(library: Path, command: Sequence[str]) -> str:
    """The words that a user types to run a command with the library; long ones are cut."""
    shown = one_line(shlex.join(command[:3])) + " ..." * (len(command) > 3)
    return preloading(library, shown)


def preloading(library: Path, command: str, settings: str = "") -> str:
    """The same for a shell's words. `settings`: other variables, each with a blank behind it."""
    if not _is_split(library):
        return f"{settings}LD_PRELOAD={shlex.quote(one_line(library))} {command}"
    link = "~/asterope_preload.so"
    # A link to another library may be there.
    linked = f"ln -sfn {shlex.quote(one_line(library))} {link}"
    return f"{linked} && {settings}LD_PRELOAD={link} {command}"


def _is_split(path: Path) -> bool:
    return any(separator in str(path) for separator in " :")
