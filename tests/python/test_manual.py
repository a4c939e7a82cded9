"""Man pages and bash completion name what --help names, and complete what the commands take."""

from __future__ import annotations

import json
import os
import re
import runpy
import sys
from pathlib import Path

import pytest
from command_errors import run_command
from copy_programs import REPOSITORY, need, output_of
from packaging_samples import PROGRAMS, commands_in, help_of, options_in

MANUAL = REPOSITORY / "scripts" / "packaging" / "manual.py"


@pytest.fixture(scope="module")
def share(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that becomes PREFIX/share."""
    folder = tmp_path_factory.mktemp("share")
    output_of(sys.executable, MANUAL, build_dir, folder)
    return folder


def page(share: Path, program: str) -> str:
    return (share / "man" / "man1" / f"{program}.1").read_text().replace(r"\-", "-")


def options_of(part: str) -> set[str]:
    return set(re.findall(r"\\fB(--?[^\\]+)\\fR", "\n".join(re.findall(r"\.TP\n(.*)", part))))


@pytest.mark.parametrize("program", PROGRAMS)
def test_man_page_and_completion_have_the_options_of_help_and_no_others(share, build_dir, program):
    own, _, subcommands = page(share, program).partition(".SH COMMANDS\n")
    text = help_of(build_dir / program)
    assert options_of(own) == options_in(text) > {"--help", "--version"}
    assert set(complete(share, program, "-")) == options_in(text)
    parts = dict(re.findall(r"(?s)\.SS (\w+)(.*?)(?=\n\.S)", subcommands))
    assert list(parts) == commands_in(text)
    for command, part in parts.items():
        options = options_in(help_of(build_dir / program, command))
        assert options_of(part) == options == set(complete(share, program, command, "-")), command


@pytest.mark.parametrize(
    ("program", "everyday", "expert"),
    [
        ("asterope-tune", "--rigor", "--seed"),
        ("asterope-bench", "--suite", "--rounds"),
        ("asterope-generate", "--output", "--prefix"),
        ("asterope-placement", "--version", "--rounds"),
        ("asterope-prove", "--until", "--cpu"),
    ],
)
def test_help_and_man_page_list_expert_options_apart(share, build_dir, program, everyday, expert):
    own = page(share, program).partition(".SH EXIT STATUS")[0].partition(".SH COMMANDS")[0]
    for text in (help_of(build_dir / program), own.replace("\\fB", "").replace("\\fR", "")):
        _, first, second = re.split(r"(?im)^(?:\.SH )?(?:expert )?options:?$", text)
        assert everyday in first and expert not in first
        assert expert in second


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_man_page_has_its_sections_and_the_exit_codes(share, program):
    text = page(share, program)
    sections = re.findall(r"(?m)^\.SH (.*)", text)
    assert sections[:4] == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"]
    assert {"EXIT STATUS", "EXAMPLES"} < set(sections)
    assert sections[-1] == "SEE ALSO"
    codes = re.findall(r"\.TP\n(\d+)\n.+", text)
    assert {"0", "1", "2", "130"} <= set(codes)
    assert ("3" in codes) == (program in ("asterope-tune", "asterope-prove"))


@pytest.mark.parametrize("program", PROGRAMS)
def test_man_shows_a_page_without_a_warning(share, program):
    need("man", "groff")
    settings = {"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}
    command = ("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z")
    page = share / "man" / "man1" / f"{program}.1"
    done = run_command(*command, page, env={**os.environ, **settings})
    assert (done.returncode, done.stderr) == (0, "")


def test_text_is_no_roff():
    assert runpy.run_path(str(MANUAL))["roff"](r".So -o 'a\b'") == r"\&.So \-o \(aqa\eb\(aq"


def complete(share: Path, program: str, *words: str) -> list[str]:
    """The words that bash offers for the last one; "compopt ..." where it is to complete itself."""
    script = f"""
        source bash-completion/completions/{program} || exit
        compopt() {{ echo "compopt $*"; }}
        COMP_WORDS=({program} "$@") COMP_CWORD=$#
        _{program.replace("-", "_")}
        (( ! ${{#COMPREPLY[@]}} )) || printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = run_command("bash", "--norc", "-uc", script, "bash", *words, cwd=share)
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["tune", "--rigor", ""], ["quick", "standard", "exhaustive"]),
        (["tune", "--rigor", "=", "qu"], ["quick"]),
        (["tune", "--quiet", "rep"], ["replay"]),
        (["tune", "replay", "--no"], ["--no-generate"]),
        (["tune", "--seed", ""], []),
        (["tune", "-o", ""], ["compopt -o default"]),
        (["bench", "--suite", "sizes,mi"], ["sizes,misalignment", "sizes,mix"]),
        (["bench", "--suite", "hot_"], ["hot_read"]),
        (["generate", "-o", ""], ["compopt -o dirnames"]),
        (["generate", "--preload", ""], ["compopt -o default"]),
        (["prove", "--write", ""], ["compopt -o default"]),
        (["generate", ""], ["compopt -o default"]),
    ],
)
def test_completion_offers_values(share, words, offered):
    assert complete(share, f"asterope-{words[0]}", *words[1:]) == offered


def test_the_words_that_completion_offers_are_in_the_text_of_their_option(build_dir):
    words = runpy.run_path(str(MANUAL))["WORDS"]
    used = set()
    for program in ("asterope-tune", "asterope-bench"):
        top = json.loads(output_of(build_dir / program, "--help-json"))
        for option in top["options"]:
            names = {f"{program} {name}" for name in option["names"]} & set(words)
            for key in names or set(option["names"]) & set(words):
                used.add(key)
                told = set(re.findall(r"\w+", option["description"]))
                # "cold: neither; consume: ..." explains words: completion offers these at least
                explained = set(re.findall(r"(?:^|; )(\w+):", option["description"]))
                assert explained <= set(words[key].split()) <= told, key
        options = [option for command in top["commands"] for option in command["options"]]
        used.update({name for option in options for name in option["names"]} & set(words))
    assert used == set(words)
