"""Keeps the maps, libraries and figures of programs, each under a name of its own. It also finds
the libraries of the routine that serves all others."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..atomic_file import write_files
from ..faults import BadInput, Failure, one_line
from ..profile_places import profile_to_read

MAP, PRELOAD, FIGURES = "places.json", "libasterope_preload.so", "figures"
ROUTINE = "libasterope_memcpy.so"
_ROOT = Path(__file__).resolve().parents[3]
_OR = "or name a library with --routine (--copies with --runs)"
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}"


def _is_checkout() -> bool:
    return (_ROOT / "tuner" / "record").is_dir()


def _all() -> Path:
    """The folder of all programs. In a checkout scripts/tune --name keeps libraries there, too. An
    installation uses a folder of the user's."""
    if _is_checkout():
        return Path(os.environ.get("ASTEROPE_BUILD_DIR", _ROOT / "build")).resolve() / "programs"
    named = os.environ.get("XDG_DATA_HOME", "")
    data = Path(named) if named.startswith("/") else Path.home() / ".local" / "share"
    return data / "asterope" / "programs"


def libraries() -> Path:
    """The folder of the libraries that serve all programs. In a checkout scripts/tune builds them.
    In an installation this function compiles them, and does so again if the profile or a template
    is newer. Raises BadInput, Failure and OSError."""
    folder = _all().parent
    if not _is_checkout():
        # These imports stand here because a user who names a library needs neither templates nor a
        # compiler.
        from ..preload import compile_preload, compile_routine
        from ..profile import load_profile
        from ..render import Asks, render_routine, template_folder

        try:
            profile = profile_to_read(None)
        except BadInput:
            raise BadInput(
                "there is no routine to try: have asterope-tune --user make a profile for it, "
                f"{_OR}"
            ) from None
        made = folder / PRELOAD
        templates = (one.stat().st_ctime_ns for one in template_folder().rglob("*"))
        newest = max(profile.stat().st_mtime_ns, *templates)
        if not made.is_file() or made.stat().st_mtime_ns < newest:
            its = load_profile(profile)
            library = compile_preload(render_routine(its, asks=Asks()), None)
            compiled = {ROUTINE: compile_routine(render_routine(its)), PRELOAD: library}
            try:
                write_files(folder, compiled)
            except OSError as error:
                where = f"{one_line(error.filename)}: {error.strerror}"
                raise Failure(f"{where}: have XDG_DATA_HOME name another folder, {_OR}") from None
    return folder


def to_build(library: Path) -> str:
    """The command that makes such a library."""
    return "scripts/tune" if _is_checkout() else f"asterope-generate --preload {_word(library)}"


def to_map(places: Path, preload: Path) -> tuple[str, Path]:
    """The command that makes a library with that map, and the library's path. An installation puts
    it beside the map, because `preload` serves other programs, too."""
    library = preload if _is_checkout() else places.resolve().with_name(PRELOAD)
    return f"{to_build(library)} --places {_word(places)}", library


def _word(path: Path) -> str:
    return shlex.quote(one_line(path))


def folder_of(name: str) -> Path:
    """Raises BadInput."""
    if not re.fullmatch(_NAME, name):
        raise BadInput(
            f"{one_line(name)[:80]}: is not a name of a program: choose letters, digits, and . _ + "
            "- behind the first"
        )
    return _all() / name


def existing_folder(name: str) -> Path:
    """Raises BadInput."""
    folder = folder_of(name)
    if not folder.is_dir():
        known = ", ".join(one.name for one in kept()) or "none"
        raise BadInput(f"{one_line(name)}: nothing is kept under that name (there are: {known})")
    return folder


def _profiles(name: str) -> Path:
    return _ROOT / "generated" / "programs" / name


def profile_of(name: str) -> Path:
    """The profile that its routine was made of: its own one, else the general one."""
    if _is_checkout():
        for folder in (_profiles(name), _ROOT / "generated"):
            if (folder / "profile.json").is_file():
                return folder / "profile.json"
    return profile_to_read(None)


def kept() -> Iterator[Path]:
    """The folders of the programs that are kept."""
    if _all().is_dir():
        yield from sorted(one for one in _all().iterdir() if one.is_dir())


def remove(name: str) -> None:
    """Removes all that is kept of it, and its profile, which scripts/tune --name made. Raises
    BadInput and OSError."""
    shutil.rmtree(existing_folder(name))
    if _is_checkout() and _profiles(name).is_dir():
        shutil.rmtree(_profiles(name))
