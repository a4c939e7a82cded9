"""The command asterope-generate: turns a profile into asterope_memcpy.c and asterope_memcpy.h."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__
from .atomic_file import write_files
from .command_line import BAD_INPUT, DONE, FAILED, INTERRUPTED, Parser, fail
from .profile import ProfileError, load_profile, one_line
from .render import render_routine, what_is_missing

PROGRAM = "asterope-generate"

# C++23's words hold C23's but for restrict and those that begin with an underscore, which no
# prefix does.
_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
virtual void volatile wchar_t while xor xor_eq
"""


def _prefix(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", text):
        raise argparse.ArgumentTypeError(
            "a prefix is a letter and up to 62 more letters, digits and underscores"
        )
    if text in _KEYWORDS.split():
        raise argparse.ArgumentTypeError(f"{text} is a keyword of C or C++: choose another prefix")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description="Writes the memory copy routine of a profile as C: NAME_memcpy.c and "
        "NAME_memcpy.h. The same profile and version give the same bytes.",
        epilog="Exit codes: 0 done; 1 failed while writing; 2 bad arguments or a bad profile; "
        "130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument("profile", metavar="PROFILE", help="the profile that asterope-tune wrote")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default=".",
        help="folder to write into, created where missing (default: the current folder)",
    )
    parser.add_argument(
        "--prefix",
        metavar="NAME",
        type=_prefix,
        default="asterope",
        help="begins the names of the functions and files (default: %(default)s)",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _generate(arguments: argparse.Namespace) -> int:
    try:
        profile = load_profile(arguments.profile)
    except ProfileError as error:
        return fail(PROGRAM, str(error), BAD_INPUT)
    texts = render_routine(profile, arguments.prefix)  # all of it, before any file is touched
    folder = Path(arguments.output)
    try:
        write_files(folder, texts)
    except OSError as error:
        where = one_line(error.filename or folder)
        return fail(
            PROGRAM,
            f"{where}: cannot write: {error.strerror}: choose another folder with -o",
            FAILED,
        )
    if not profile.complete:
        _warn(
            f"{one_line(arguments.profile)}: incomplete: {what_is_missing(profile)}: "
            "run asterope-tune again with more time"
        )
    names = " and ".join(one_line(folder / name) for name in texts)
    return _report(f"wrote {names} ({len(profile.intervals)} intervals)")


def _report(line: str) -> int:
    try:
        print(line, flush=True)
        return DONE
    except OSError as error:
        # The interpreter flushes once more at exit and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return DONE  # who read our output has gone, but the files are written
        return fail(
            PROGRAM, f"standard output: {error.strerror}: but the files are written", FAILED
        )


def _warn(line: str) -> None:
    print(f"{PROGRAM}: warning: {line}", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parser().parse_args(argv)
    try:
        return _generate(arguments)
    except KeyboardInterrupt:
        return fail(PROGRAM, "interrupted", INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
