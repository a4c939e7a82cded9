"""Makes the man page and the bash completion of every command out of its --help.

Both are made by the build, from the commands themselves, so that no option is forgotten or
left behind. What --help does not say stands in asterope/option_words.py (the words that a value may
be) and in man/COMMAND.roff (examples, files), whose indented lines are code.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from asterope import __version__  # noqa: E402
from asterope.commands import COMMANDS  # noqa: E402
from asterope.option_words import LISTS, WORDS  # noqa: E402

FILES = re.compile(r"FILE|LOG|ROUTINE|MAP|OUT|PLACES|PATH|\bSO\b|LIB\.so")


def describe(name: str, programs: Path, emulator: Sequence[str] = ()) -> dict[str, Any]:
    """The command's description of itself: see tuner/base/command_line.cpp."""
    if COMMANDS[name][1] is None:
        command = [*emulator, str(programs.resolve() / f"asterope-{name}")]
    else:
        command = [sys.executable, "-B", "-m", "asterope", name]
    done = subprocess.run(
        [*command, "--help-json"], check=True, stdout=subprocess.PIPE, text=True, cwd=HERE.parent
    )
    return json.loads(done.stdout)


def roff(text: str) -> str:
    """Text as roff shows it unchanged: hyphens that can be copied, straight quotes, no requests."""
    escaped = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
    text = text.translate(str.maketrans(escaped))
    return r"\&" + text if text.startswith(".") else text


def with_code(text: str) -> str:
    """Roff whose indented lines become code, with paragraphs of text between."""

    def shown(lines: re.Match[str]) -> str:
        return f".PP\n.in +4n\n.nf\n{roff(textwrap.dedent(lines[0]))}.fi\n.in\n"

    text = re.sub(r"(^    .*\n)+", shown, text, flags=re.MULTILINE)
    return re.sub(r"^\.in\n(?=[^.])", ".in\n.PP\n", text, flags=re.MULTILINE)


def exit_codes(epilog: str) -> list[tuple[str, str]]:
    """The exit codes in the epilog: ("0", "done"), ..."""
    _, _, codes = epilog.partition("Exit codes: ")
    parts = re.split(r"; (?=\d)", codes.strip().rstrip("."))
    return [(code, meaning) for code, _, meaning in (part.partition(" ") for part in parts)]


def synopsis(command: dict[str, Any]) -> str:
    """The words behind the command's name, as roff."""
    words = ["[\\fIOPTIONS\\fR]"]
    for option in command["options"]:
        if option["place"] is None:
            continue
        word = f"\\fI{roff(option['place'])}\\fR" + ("..." if option["repeats"] else "")
        words.append(word if option["required"] else f"[{word}]")
    return " ".join(words)


def kind(option: dict[str, Any], program: str) -> str:
    """The shell's completion of the option's value, as assignments to variables that it reads."""
    places = [f"{program} {name}" for name in option["names"]] + option["names"]
    words = option["choices"] or next((WORDS[it].split() for it in places if it in WORDS), None)
    if words:
        how = "list" if option["list"] or option["argument"] in LISTS else "words"
        return f'how={how} words="{" ".join(words)}"'
    if option["argument"] == "DIR":
        return "how=folders"
    return "how=files" if FILES.search(option["argument"]) else "how=nothing"


def by_kind(options: Iterable[dict[str, Any]], program: str) -> list[tuple[str, list[str]]]:
    """The names of the options that take a value, gathered by how that is completed."""
    gathered: dict[str, list[str]] = {}
    for option in options:
        if option["names"] and option["argument"]:
            gathered.setdefault(kind(option, program), []).extend(option["names"])
    return list(gathered.items())


def render(name: str, command: dict[str, Any], output: Path) -> None:
    """The man page and the completion of one command."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        roff=roff, synopsis=synopsis, kind=kind, by_kind=by_kind, exit_codes=exit_codes
    )
    program = command["name"]
    more = HERE / "man" / f"{program}.roff"
    context = {
        "command": command,
        "summary": COMMANDS[name][0],
        "others": [f"asterope-{other}" for other in COMMANDS if other != name],
        "more": with_code(more.read_text()) if more.is_file() else "",
        "version": __version__,
    }
    for template, path in (
        ("man/command.1.j2", output / "man" / "man1" / f"{program}.1"),
        ("completion/command.bash.j2", output / "bash-completion" / "completions" / program),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(environment.get_template(template).render(context))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, help="folder with asterope-tune and asterope-bench")
    parser.add_argument("output", type=Path, help="folder that becomes PREFIX/share")
    parser.add_argument(
        "emulator", nargs=argparse.REMAINDER, help="what runs programs of another architecture"
    )
    arguments = parser.parse_args()
    for name in COMMANDS:
        described = describe(name, arguments.programs, arguments.emulator)
        render(name, described, arguments.output)


if __name__ == "__main__":
    main()
