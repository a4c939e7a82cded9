"""Reads the command line of scripts/tune, and refuses mistakes at once.

The words are read from left to right. argparse would take the value behind a misspelt option for a
command, and complain about that one.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..command_line import did_you_mean
from ..faults import BadInput, one_line
from ..option_words import LISTS, WORDS
from ..text_file import open_to_read
from .declared import SEARCH, Options

# The script's own options, as in `declared`: with the name of their value, "" for a flag.
OWN = {"--retune": "", "--dry-run": "", "--name": "NAME", "--places": "FILE", "--share": "FILE"}

# The loose form of a value, and an example of it: the tool knows more, but only once it is built.
FORMS = {
    "--time-budget": (r"[0-9.]+[smh]", "10m"),
    "--sizes": (r"[0-9]+[KMG]?(,[0-9]+[KMG]?)*", "128,8K,32M"),
    "--operations": (r"memcpy(,memset)?", "memcpy,memset"),
    "--reference": (r"[^=]+=.+", "new=./libcopies.so"),
    "--cpu": (r"-?[0-9]+", "1"),
    "--seed": (r"[0-9]+", "1"),
    "--threads": (r"[0-9]+", "2"),
}
_FILES = ("--recording", "--places")

_TO_HELP = "see scripts/tune --help"


@dataclass
class Request:
    """The answers of the command line. Names of files are as given."""

    root: Path
    help: bool = False
    dry_run: bool = False
    retune: bool = False
    resume: bool = False
    generate: bool = True
    quiet: bool = False
    verbose: bool = False
    searches: bool = True  # False: the tool only answers a question
    named: bool = False  # by --name
    program: str = ""  # whose profile and libraries are kept apart
    recording: str = ""  # of it
    profile: str = ""
    trials: str = ""  # the log of the search
    share: str = ""  # the file that is packed for others
    keeps_log: bool = False  # for that
    command: str = SEARCH  # of asterope-tune
    operands: int = 0  # of that
    places: list[str] = field(default_factory=list)  # asterope-generate's option for a map
    given: list[str] = field(default_factory=list)  # for the tool if it only answers
    options: list[str] = field(default_factory=list)  # for its search, without the profile's name
    deciding: list[str] = field(default_factory=list)  # those that can change the result

    @property
    def build(self) -> Path:
        return self.root / "build"

    @property
    def libraries(self) -> Path:
        """The folder of the routine's libraries."""
        return self.build / "programs" / self.program if self.program else self.build


def read(root: Path, words: Iterable[str], known: Options) -> Request:
    """Raises BadInput."""
    request = Request(root)
    rest = iter(words)
    for word in rest:
        if word in ("-h", "--help"):
            request.help = True
            return request
        if len(word) < 2 or word[0] != "-":
            _take_operand(request, word, known)
            continue
        name, value = _parted(word)
        of_command = known[request.command]
        if name not in OWN and name not in of_command:
            raise BadInput(
                f"there is no option {one_line(name)}"
                f"{did_you_mean(name, [*of_command, *OWN])}: {_TO_HELP}"
            )
        takes = OWN.get(name) or of_command.get(name, "")
        together = [word]
        if takes and value is None:
            value = next(rest, None)
            if value is None:
                raise BadInput(f"{name} needs a value: {_TO_HELP}")
            together.append(value)
        if not takes and value is not None:
            raise BadInput(f"{name} takes no value: {_TO_HELP}")
        if takes:
            _check_value(name, takes, value or "")
        if name in OWN:
            _take_own(request, name, value or "", together)
        else:
            request.given += together
            if request.command == SEARCH:
                _take_option(request, name, value or "", together)
    _complete(request)
    return request


def _parted(word: str) -> tuple[str, str | None]:
    """An option's name, and the value that is in the same word."""
    if word.startswith("--"):
        name, mark, value = word.partition("=")
        return name, value if mark else None
    return word[:2], word[2:] or None


def _take_operand(request: Request, word: str, known: Options) -> None:
    if request.command != SEARCH:
        request.operands += 1
        _require_file(request.command, word)
    elif word in known:
        request.command, request.searches = word, False
    else:
        commands = [command for command in known if command != SEARCH]
        hint = did_you_mean(word, commands)
        raise BadInput(f"there is no command {one_line(word)}{hint}: {_TO_HELP}")
    request.given.append(word)


def _take_own(request: Request, name: str, value: str, together: list[str]) -> None:
    if name == "--retune":
        request.retune = True
    elif name == "--dry-run":
        request.dry_run = True
    elif name == "--name":
        request.program, request.named = value, True
    elif name == "--places":
        request.places = together
    else:
        request.share, request.retune = value, True


def _take_option(request: Request, name: str, value: str, together: list[str]) -> None:
    if name in ("-o", "--output"):
        if not value:
            raise BadInput("-o needs the name of a file")
        request.profile = value
        return
    if name in ("--version", "--system", "--user"):
        # Generators find the user's and the system's profile: nothing is rendered.
        request.searches = False
        return
    request.options += together
    if name == "--no-generate":
        request.generate = False
    elif name == "--resume":
        request.retune = request.resume = True  # the profile that is there does not end a search
    elif name == "--quiet":
        request.quiet = True
    elif name == "--verbose":
        request.verbose = True
    else:
        request.deciding += together
        if name == "--log":
            request.trials = value
        if name == "--recording":
            # Another recording of the same name is another search.
            request.recording = value
            content = _content(value)
            request.deciding.append(f"{zlib.crc32(content)} {len(content)}")


def _check_value(name: str, takes: str, value: str) -> None:
    """`takes`: the name of the value in --help."""
    words = [] if takes in LISTS else WORDS.get(name, "").split()
    if words and "=" not in value and value not in words:  # the tool reads a mix of several
        raise BadInput(
            f"{name}: there is no {one_line(value)}{did_you_mean(value, words)}: "
            f"choose of {' '.join(words)}"
        )
    form, example = FORMS.get(name, (".*", ""))
    if not re.fullmatch(form, value, re.DOTALL):
        raise BadInput(f"{name} {one_line(value)}: write it as in {name} {example}")
    if name in _FILES:
        _require_file(name, value)


def _require_file(what: str, name: str) -> None:
    if not os.path.exists(name):
        raise BadInput(f"{what} {one_line(name)}: there is no such file")


def _content(name: str) -> bytes:
    """The content of a file; empty for a folder, and for a file that cannot be read."""
    with suppress(OSError), open_to_read(name) as file:
        return file.read()
    return b""


def _program_of(recording: str) -> str:
    """The name of the program that was recorded; empty where it has none."""
    line = rb'^ "program": .*"name": "([^"]*)"}'
    found = re.search(line, _content(recording), re.MULTILINE)
    return found[1].decode(errors="replace") if found else ""


def _complete(request: Request) -> None:
    """Fills in what follows from several options. Raises BadInput."""
    if request.recording and not request.named:
        request.program = _program_of(request.recording)
        if not request.program:
            name = one_line(request.recording)
            raise BadInput(f"--recording {name}: names no program: record anew")
    is_apart = request.named or bool(request.program)
    if is_apart and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", request.program):
        raise BadInput(
            f"--name '{one_line(request.program)}': choose letters, digits, and . _ + - behind the "
            "first"
        )
    apart = Path("programs", request.program) if request.program else Path()
    request.profile = request.profile or str(request.root / "generated" / apart / "profile.json")
    if request.share and not (request.searches and request.generate):
        raise BadInput(
            "--share needs a search and the comparison with libc: leave out the option that stops "
            "before them"
        )
    if request.share and not request.trials:
        request.keeps_log = True
        request.options += ["--log", f"{request.profile}.trials"]
    request.trials = request.trials or f"{request.profile}.trials"
    if request.searches and request.resume and not os.path.exists(request.trials):
        raise BadInput(
            f"there is no log {one_line(request.trials)} to resume from: leave out --resume to "
            "start anew"
        )
    is_there = os.path.exists(request.profile)
    # The profile that this script writes by default. Where it is not there, the tool looks in the
    # user's and the system's places.
    if request.command in ("check", "diagnose") and not request.operands and is_there:
        request.given.append(request.profile)
    if request.searches and request.generate and is_there and not os.path.isfile(request.profile):
        raise BadInput(
            f"-o {one_line(request.profile)}: is no regular file, from which a routine could be "
            "built: name one, or stop after the profile with --no-generate"
        )
