"""The command asterope-generate: turns a profile into asterope_memcpy.c and asterope_memcpy.h."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

from .arguments import file_name
from .atomic_file import refuse_loss, write_files
from .command_line import DONE, Parser, run, show, tell
from .dispatch import load_profiles, render_dispatch
from .faults import Failure, one_line
from .figures import counted
from .profile import Profile, load_profile
from .profile_places import profile_to_read
from .provisional import doubt_of, warning
from .render import NOTHING, Asks, render_routine, what_is_missing
from .spaces.kinds import OTHERS

PROGRAM = "asterope-generate"

# The texts of all files by their names.
_Render = Callable[[Asks], dict[str, str]]

# The names that C (7.31 of C11) and POSIX (2.2.2) keep for their own headers. No libc has a
# mem_memcpy or a strict_memcpy today, but a reader takes memcpy_memcpy for libc's.
_LIBRARYS = re.compile(
    r"(?:mem|str|wcs)[a-z]|"
    r"(?:aio|atomic|cnd|errno|libc|mq|mtx|posix|pthread|sched|sem|shm|sig|thrd|timer|tss)$"
)


def _prefix(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", text):
        raise argparse.ArgumentTypeError(
            "a prefix is a letter and up to 62 more letters, digits and underscores"
        )
    return text


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description="Writes the memory copy routine of a profile as C: NAME_memcpy.c and "
        "NAME_memcpy.h. The same profile and version give the same bytes. With --dispatch the "
        "routines of several machines' profiles, one of which is chosen when it is loaded.",
        epilog="Exit codes: 0 done; 1 failed while writing; 2 bad arguments or a bad profile; "
        "130 interrupted.",
    )
    parser.add_argument(
        "profile",
        metavar="PROFILE",
        type=file_name,
        nargs="*",
        help="the profile that asterope-tune wrote (default: your own, "
        "$XDG_CONFIG_HOME/asterope/profile.json, else /etc/asterope/profile.json)",
    )
    parser.add_argument(
        "--dispatch",
        action="store_true",
        help="take any number of profiles, of different CPUs: the routine is that of the nearest, "
        "or of the one that the environment variable ASTEROPE_PROFILE names, by its file's name "
        "without the .json",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=file_name,
        help="folder to write into, created where missing (default: the current folder)",
    )
    parser.add_argument(
        "--preload",
        metavar="LIB.so",
        type=file_name,
        help="compile the library for LD_PRELOAD, the routine under libc's names, with CC and "
        "CFLAGS of the environment; without -o no C files are written",
    )
    parser.add_argument(
        "--places",
        metavar="PLACES",
        type=file_name,
        help="with --preload: at these places, which asterope-prove --write found, the library "
        "takes the ways that are best there",
    )
    parser.expert.add_argument(
        "--prefix",
        metavar="NAME",
        type=_prefix,
        action="append",
        help="begins the names of the functions and files (default: asterope)",
    )
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    return parser


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = _parser()
    arguments = parser.parse_intermixed_args(argv)  # options may stand between the profiles
    if len(arguments.profile) > 1 and not arguments.dispatch:
        parser.error("several profiles make one file only with --dispatch")
    if arguments.dispatch and not arguments.profile:
        parser.error("--dispatch wants the profiles named")
    # The last one holds, as usual. Here it may be meant to hold for one of the profiles.
    if arguments.dispatch and len(set(arguments.prefix or ())) > 1:
        parser.error("--prefix: one file has one prefix: give it once")
    if arguments.preload is not None and arguments.prefix:
        parser.error("--prefix: the library of --preload has libc's names and no others")
    if arguments.places is not None and arguments.preload is None:
        parser.error("--places is for the library that --preload names")
    return arguments


def _read(arguments: argparse.Namespace) -> tuple[_Render, dict[str | Path, Profile], str]:
    """The renderer, the profiles by their files' names, and a description of the texts."""
    prefix = arguments.prefix[-1] if arguments.prefix else "asterope"
    if arguments.dispatch:
        profiles = load_profiles(arguments.profile)
        held = f"{counted(len(profiles), 'profile')}: {', '.join(profiles)}"
        for one in OTHERS:
            lacking = [name for name, profile in profiles.items() if not profile.has(one.name)]
            if lacking:
                held += f"; no {one.name} in {', '.join(lacking)}"
        by_path = dict(zip(arguments.profile, profiles.values()))
        return (lambda asks: render_dispatch(profiles, prefix, asks)), by_path, held
    path = profile_to_read(arguments.profile[0] if arguments.profile else None)
    profile = load_profile(path)
    held = f"{len(profile.of('pipelines'))} intervals"
    for one in OTHERS:
        if choices := profile.of("pipelines", one.name):
            held += f", {len(choices)} of {one.name}"
        else:
            held += f", no {one.name}: the profile has none"
    return (lambda asks: render_routine(profile, prefix, asks)), {path: profile}, held


def _generate(arguments: argparse.Namespace) -> int:
    render, profiles, held = _read(arguments)
    texts, library = render(NOTHING), None  # all of it, before any file is touched
    if arguments.preload is not None:
        library = _library(arguments.places, render, profiles.values())
    outputs: list[tuple[str, Path, Mapping[str, str | bytes]]] = []
    if library is None or arguments.output is not None:
        outputs.append(("-o", Path(arguments.output or "."), texts))
    if library is not None:
        target = Path(arguments.preload)
        outputs.append(("--preload", target.parent, {target.name: library}))
    inputs = dict.fromkeys(profiles, "a profile that is read")
    if arguments.places is not None:
        inputs[arguments.places] = "the map of places"
    for (option, folder, files), (path, called) in product(outputs, inputs.items()):
        for name in files:
            refuse_loss(folder / name, path, called, option)
    for option, folder, files in outputs:
        try:
            write_files(folder, files)
        except OSError as error:
            where = one_line(error.filename or folder)
            raise Failure(
                f"{where}: cannot write: {error.strerror}: choose another folder with {option}"
            ) from None
    if arguments.quiet:
        return DONE
    for prefix in filter(_LIBRARYS.match, (arguments.prefix or ())[-1:]):
        _warn(
            f"--prefix {prefix}: the functions are {prefix}_memcpy and so on, names of a kind that "
            "the C library keeps for itself, and none takes the place of libc's memcpy: choose "
            "another prefix; the guide to integrating says how a program gets it in libc's place"
        )
    for path, profile in profiles.items():
        if not profile.complete:
            remedy = "run asterope-tune again with more time"
            if "merged" in profile.raw:
                remedy = "merge the sample logs of these searches, which hold all candidates"
            _warn(f"{one_line(path)}: incomplete: {what_is_missing(profile)}: {remedy}")
        if doubt := doubt_of(profile.raw):
            _warn(f"{one_line(path)}: {warning(doubt, 'these winners are')}")
    names = " and ".join(one_line(folder / name) for _, folder, files in outputs for name in files)
    taken = "" if arguments.profile else f" from {one_line(*profiles)}"
    show(f"wrote {names} ({held}){taken}")
    return DONE


def _library(places: str | None, render: _Render, profiles: Iterable[Profile]) -> bytes:
    """Raises BadInput, Failure and OSError."""
    # These load modules that most calls do not need.
    from .place_map import as_c, least_of, read_places
    from .preload import compile_preload

    if places is None:
        return compile_preload(render(Asks()), None)
    entries = frozenset().union(*(profile.entries for profile in profiles))
    mapped = read_places(places, entries)
    return compile_preload(render(Asks(least_of(mapped))), as_c(mapped))


def _warn(line: str) -> None:
    tell(PROGRAM, f"warning: {line}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _arguments(argv)
    return run(PROGRAM, lambda: _generate(arguments))


if __name__ == "__main__":
    sys.exit(main())
