"""The common part of the package's commands: exit codes and errors of one line."""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TextIO

from . import __version__
from .faults import BadInput, Failure, one_line
from .interrupt import interrupts_caught

# The modules that the commands need, and the packages that have them.
PACKAGES = {"jinja2": "jinja2", "jsonschema": "jsonschema", "elftools": "pyelftools"}

DONE, FAILED, BAD_INPUT, STALE, INTERRUPTED = 0, 1, 2, 3, 130


class _HelpJson(argparse.Action):
    """Prints help_json() and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        show(json.dumps(help_json(parser), indent=2))
        parser.exit()


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line; its own print the usage as well.

    Options are written in full, and each command has --version. The hidden --help-json is for the
    build, which makes man pages and completion of it.
    """

    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog=prog, allow_abbrev=False, **settings)
        self.add_argument("--version", action="version", version=f"{prog} {__version__}")
        self.add_argument("--help-json", action=_HelpJson, nargs=0, help=argparse.SUPPRESS)
        # Most users do not need these.
        self.expert = self.add_argument_group("expert options")

    def _print_message(self, message: str, file: TextIO | None = None) -> None:
        show(message, file or sys.stderr, end="")

    def error(self, message: str) -> NoReturn:
        hint = self._nearest_option(message)
        self.exit(BAD_INPUT, f"{self.prog}: {one_line(message)}{hint}: see {self.prog} --help\n")

    def _nearest_option(self, message: str) -> str:
        """Guesses the meaning of an option that argparse does not know; empty: nothing is near."""
        unknown = re.search(r"unrecognized arguments:.*?(?<!\S)(--?[\w-]+)", message)
        known = [name for name in self._option_string_actions if name != "--help-json"]
        hint = did_you_mean(unknown[1], known) if unknown else ""
        if hint:
            return hint
        runs_others = any(action.metavar == "COMMAND" for action in self._actions)
        return " (the program and its options go behind --)" if unknown and runs_others else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ " (did you mean KNOWN?)", or nothing where no known word is near. Dashes do not count: all
    options have them."""
    letters = {name.lstrip("-"): name for name in known}
    near = difflib.get_close_matches(word[:100].lstrip("-"), letters, 1)
    return f" (did you mean {letters[near[0]]}?)" if near else ""


def show(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Prints on `stream` (default: stdout). Where its reader is gone, the text is dropped, and so
    is all that follows: a command has not failed because its words cannot be shown."""
    stream = stream or sys.stdout
    try:
        if stream is not None:  # it is None for a closed descriptor
            print(text, end=end, file=stream, flush=True)
    except UnicodeEncodeError:  # the stream's encoding lacks a character
        code = stream.encoding
        show(text.encode(code, "backslashreplace").decode(code), stream, end)
    except OSError:
        # The interpreter flushes once more when it ends, and calls it a failure, too.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def tell(program: str, line: str) -> None:
    """Says something on stderr in the program's name."""
    if sys.stderr is not None:
        show(f"{program}: {line}", sys.stderr)


def fail(program: str, line: str, code: int) -> int:
    """Prints the error in the program's name; returns the exit code."""
    tell(program, line)
    return code


def to_install(*packages: str) -> str:
    """The command with which this Python gets missing packages."""
    python = shlex.quote(one_line(sys.executable))
    what = "it" if len(packages) == 1 else "them"
    of_debian = " ".join(f"python3-{package}" for package in packages)
    return (
        f"which {python} lacks: install {what} ({python} -m pip install {' '.join(packages)}; "
        f"on Debian apt-get install {of_debian})"
    )


def _is_missing(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ValueError:  # it was loaded in an odd way
        return True


def run(program: str, command: Callable[[], int]) -> int:
    """Runs a command. An error becomes one line and its exit code."""
    try:
        with interrupts_caught():
            return command()
    except BadInput as error:
        return fail(program, str(error), BAD_INPUT)
    except Failure as error:
        return fail(program, str(error), FAILED)
    except OSError as error:
        where = f"{one_line(error.filename)}: " if error.filename else ""
        return fail(program, f"{where}{error.strerror or one_line(error)}", FAILED)
    except ModuleNotFoundError as error:
        # in an installed tree: pip brings the packages that a wheel needs
        first = (error.name or "").partition(".")[0]
        if first in ("", "asterope"):
            raise
        # all at once: otherwise the user would install one, and then meet the next
        names = dict.fromkeys([*PACKAGES, first])
        missing = [name for name in names if name == first or _is_missing(name)]
        packages = [PACKAGES.get(name, name) for name in missing]
        what = f"module{'s' * (len(missing) > 1)} {' and '.join(missing)}"
        return fail(program, f"needs the Python {what}, {to_install(*packages)}", FAILED)
    except KeyboardInterrupt:
        return fail(program, "interrupted", INTERRUPTED)
    except MemoryError:
        return fail(program, "no memory is left for this", FAILED)


def help_json(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """The contents of --help, for programs; the same form as tuner/base/command_line.cpp
    describes."""
    shown = [action for action in parser._actions if action.help is not argparse.SUPPRESS]
    expert = parser.expert._group_actions if isinstance(parser, Parser) else []
    return {
        "name": parser.prog,
        "description": parser.description or "",
        "epilog": parser.epilog or "",
        "options": [{**_option(parser, action), "expert": action in expert} for action in shown],
        "commands": [],
    }


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> dict[str, Any]:
    # up to Python 3.11 parse_intermixed_args, which calls this, hides how often a positional may be
    nargs = getattr(action, "save_nargs", action.nargs)
    argument = None if action.nargs == 0 else action.metavar or action.dest.upper()
    described = parser._get_formatter()._expand_help(action)
    return {
        "names": list(action.option_strings),
        "place": None if action.option_strings else argument,
        "argument": argument,
        "limits": None,
        "default": None,  # the descriptions name it
        "description": described,
        "choices": list(action.choices) if action.choices else None,
        "list": False,
        "required": action.required and nargs != "*",  # argparse calls these required, too
        "repeats": nargs in ("+", "*"),
    }
