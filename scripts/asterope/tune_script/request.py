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

from ..atomic_file import check_output
from ..command_line import did_you_mean
from ..faults import BadInput, one_line
from ..option_words import OPTIONS, SEARCH, WORDS, options_of
from ..text_file import open_to_read

# The script's own options, and whether each takes a value.
OWN = {"--retune": False, "--dry-run": False, "--name": True, "--places": True, "--share": True}

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
_SEVERAL = ("--without", "--only")  # they take all words up to the next option or command

# Generators find the user's and the system's profile: nothing is rendered.
_NO_SEARCH = ("--version", "--system", "--user")

# Commands about the profile that is here, where none is named.
_OF_PROFILE = ("check", "diagnose")

# Options of a search that cannot change its result.
_UNDECIDING = ("--fresh", "--log", "--no-generate", "--resume", "--quiet", "--verbose")

_TO_HELP = "see scripts/tune --help"


@dataclass
class Request:
    """The command line. Names of files are as given."""

    root: Path
    command: str = SEARCH  # of asterope-tune
    values: dict[str, str] = field(default_factory=dict)  # of the options by name; "" of a flag
    operands: int = 0  # of the command
    given: list[str] = field(default_factory=list)  # for the tool if it only answers
    options: list[str] = field(default_factory=list)  # for its search, without the profile's name
    deciding: list[str] = field(default_factory=list)  # those that can change the result
    program: str = ""  # whose profile and libraries are kept apart
    profile: str = ""
    trials: str = ""  # the log of the search

    def has(self, *options: str) -> bool:
        """Whether one of them is given."""
        return not self.values.keys().isdisjoint(options)

    @property
    def searches(self) -> bool:
        """False: the tool only answers a question."""
        return self.command == SEARCH and not self.has(*_NO_SEARCH)

    @property
    def generates(self) -> bool:
        return not self.has("--no-generate")

    @property
    def retunes(self) -> bool:
        """Whether it searches, whatever profile is there."""
        keeps_log = self.has("--log") and not os.path.exists(self.trials)
        return self.has("--retune", "--fresh", "--share", "--resume") or keeps_log

    def setup_command(self, *words: str) -> list[str]:
        """The command that calls a function of scripts/setup.sh, which installs and builds."""
        script = 'source "$1/scripts/setup.sh"; "${@:2}"'
        # The word behind the script is its name, under which setup.sh reports errors.
        return ["bash", "-euo", "pipefail", "-c", script, "tune", str(self.root), *words]

    @property
    def packed(self) -> str:
        """The file that --share writes."""
        return re.sub(r"\.tar\.gz$", "", self.values["--share"]) + ".tar.gz"

    @property
    def build(self) -> Path:
        return self.root / "build"

    @property
    def libraries(self) -> Path:
        """The folder of the routine's libraries."""
        return self.build / "programs" / self.program if self.program else self.build


def read(root: Path, words: Iterable[str]) -> Request:
    """Raises BadInput."""
    request = Request(root)
    rest = list(words)[::-1]
    while rest:
        word = rest.pop()
        if word in ("-h", "--help"):
            request.values["--help"] = ""
            return request
        if len(word) < 2 or word[0] != "-":
            _take_operand(request, word)
            continue
        name, value = _parted(word)
        known = {**options_of(request.command), **OWN}
        if name not in known:
            hint = did_you_mean(name, known)
            raise BadInput(f"there is no option {one_line(name)}{hint}: {_TO_HELP}")
        together = [word]
        if known[name] and value is None:
            if not rest:
                raise BadInput(f"{name} needs a value: {_TO_HELP}")
            value = rest.pop()
            together.append(value)
        while name in _SEVERAL and rest and rest[-1][:1] != "-" and rest[-1] not in OPTIONS:
            together.append(rest.pop())
            value = f"{value},{together[-1]}"
        if not known[name] and value is not None:
            raise BadInput(f"{name} takes no value: {_TO_HELP}")
        if value is not None:
            _check_value(name, value)
        _take_option(request, name, value or "", together)
    _complete(request)
    return request


def _parted(word: str) -> tuple[str, str | None]:
    """An option's name, and the value that is in the same word."""
    if word.startswith("--"):
        name, mark, value = word.partition("=")
        return name, value if mark else None
    return word[:2], word[2:] or None


def _take_operand(request: Request, word: str) -> None:
    if request.command != SEARCH:
        request.operands += 1
        _require_file(request.command, word)
    elif word in OPTIONS and word != SEARCH:
        if request.given:
            raise BadInput(
                f"{word}: the options before it are those of a search: write its own behind it"
            )
        request.command = word
    else:
        hint = did_you_mean(word, [command for command in OPTIONS if command != SEARCH])
        raise BadInput(f"there is no command {one_line(word)}{hint}: {_TO_HELP}")
    request.given.append(word)


def _take_option(request: Request, name: str, value: str, together: list[str]) -> None:
    request.values[name] = value
    if name in OWN:
        return
    request.given += together
    if request.command != SEARCH or name in _NO_SEARCH:
        return
    if name in ("-o", "--output"):
        if not value:
            raise BadInput("-o needs the name of a file")
        request.profile = value
        return
    request.options += together
    if name not in _UNDECIDING:
        request.deciding.append(f"{name}={value}")
    if name == "--recording":  # another one of the same name is another search
        content = _content(value)
        request.deciding.append(f"{zlib.crc32(content)} {len(content)}")


def _check_value(name: str, value: str) -> None:
    words = [] if name == "--only" else WORDS.get(name, "").split()  # that takes several
    if words and "=" not in value and value not in words:  # the tool reads a mix of several
        raise BadInput(
            f"{name}: there is no {one_line(value)}{did_you_mean(value, words)}: "
            f"choose of {' '.join(words)}"
        )
    form, example = FORMS.get(name, (".*", ""))
    if not re.fullmatch(form, value, re.DOTALL):
        raise BadInput(f"{name} {one_line(value)}: write it as in {name} {example}")
    if name == "--share" and not value:
        raise BadInput("--share needs the name of a file")
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
    """The name of the program that was recorded. Raises BadInput."""
    line = rb'^ "program": .*"name": "([^"]+)"}'
    found = re.search(line, _content(recording), re.MULTILINE)
    if not found:
        raise BadInput(f"--recording {one_line(recording)}: names no program: record anew")
    return found[1].decode(errors="replace")


def _require_use_of_own(request: Request) -> None:
    """Refuses options of the script that would do nothing. Raises BadInput."""
    idle, stop = [], ""
    if not request.searches:
        idle = ["--retune", "--places", "--share"]
        idle += [] if request.command in _OF_PROFILE else ["--name"]
        stop = request.command or next(name for name in _NO_SEARCH if request.has(name))
    elif not request.generates:
        idle, stop = ["--places", "--share"], "--no-generate"
    for name in idle:
        if request.has(name):
            raise BadInput(f"{name} does nothing beside {stop}: leave out one of them")


def _complete(request: Request) -> None:
    """Fills in what follows from several options. Raises BadInput."""
    values = request.values
    request.deciding.sort()  # the same options in another order are the same search
    _require_use_of_own(request)
    program = values.get("--name")
    if program is None and request.searches and request.has("--recording"):
        program = _program_of(values["--recording"])
    request.program = program or ""
    if program is not None and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", program):
        raise BadInput(
            f"--name '{one_line(program)}': choose letters, digits, and . _ + - behind the first"
        )
    apart = Path("programs", request.program) if request.program else Path()
    request.profile = request.profile or str(request.root / "generated" / apart / "profile.json")
    request.trials = values.get("--log") or f"{request.profile}.trials"
    if request.has("--share"):
        check_output(Path(request.packed))
        if not values.get("--log"):
            request.options += ["--log", request.trials]
    places = values.get("--places", "")
    if os.path.isfile(places) and b'"asterope-places"' not in _content(places):
        raise BadInput(f"--places {one_line(places)}: is no map that asterope-prove --write made")
    if request.searches and request.has("--resume") and not os.path.exists(request.trials):
        raise BadInput(
            f"there is no log {one_line(request.trials)} to resume from: leave out --resume to "
            "start anew"
        )
    is_there = os.path.exists(request.profile)
    # The profile that this script writes by default. Where it is not there, `check` looks in the
    # user's and the system's places, and `diagnose` does without.
    if request.command in _OF_PROFILE and not request.operands and is_there:
        request.given.append(request.profile)
    elif request.command in _OF_PROFILE and not request.operands and request.has("--name"):
        raise BadInput(f"there is no profile {one_line(request.profile)}: tune it first")
    if request.searches and request.generates and is_there and not os.path.isfile(request.profile):
        raise BadInput(
            f"-o {one_line(request.profile)}: is no regular file, from which a routine could be "
            "built: name one, or stop after the profile with --no-generate"
        )
