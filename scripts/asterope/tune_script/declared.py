"""The options of asterope-tune, read from the C++ sources that declare them.

scripts/tune refuses a misspelt option before a build of minutes, and so it cannot ask the program
for its options. A list of them in the repository would be a second source. A table from which C++
is made would be one, too: the C++ that takes an option's value would name the option again. A test
compares the options that are found here with those of `asterope-tune --help-json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

# The commands' options: each option's names, and the name of its value in --help; "" for a flag.
Options = dict[str, dict[str, str]]

# The key of the options that no command is named for.
SEARCH = ""

_CALL = re.compile(r"\badd_(option|cpu|command)\(\s*(app|command)\b")
_STRING = r'"(?:\\.|[^"\\])*"'
_TOKEN = re.compile(rf'{_STRING}|//[^\n]*|[(){{}}\[\],]|[^"(){{}}\[\],/]+|/')


def _arguments(text: str) -> Iterator[str]:
    """The arguments of a call whose text begins behind its opening parenthesis."""
    depth, argument = 0, ""
    for token in _TOKEN.findall(text):
        if token.startswith("//"):
            continue
        if depth == 0 and token in (",", ")"):
            yield argument.strip()
            argument = ""
            if token == ")":
                return
            continue
        depth += (token in ("(", "{", "[")) - (token in (")", "}", "]"))
        argument += token


def _names(literal: str) -> list[str]:
    return literal.strip('"').split(",")


def declared(sources: Path) -> Options:
    """The options of each command; `sources`: the folder tuner/. Raises OSError."""
    found: Options = {SEARCH: {"-h": "", "--help": "", "--version": ""}}  # these are CLI11's own
    for path in sorted(sources.rglob("*.cpp")):
        if "bench" in path.relative_to(sources).parts:
            continue  # asterope-bench's options
        text, command = path.read_text(encoding="utf-8"), SEARCH
        for call in _CALL.finditer(text):
            of, names, *others = [*_arguments(text[call.start(2) :]), "", "", ""]
            if call[1] == "command":
                command = names.strip('"')
                found[command] = {"-h": "", "--help": ""}
                continue
            value = others[2].strip('"')
            if call[1] == "cpu":
                names, value = "--cpu", "N"
            for name in _names(names):
                if name.startswith("-"):
                    found[command if of == "command" else SEARCH][name] = value
    return found
