"""The links, commands and options of the documentation exist, in the checkout and in an installed
tree."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from asterope.spaces import of
from command_errors import run_command
from conftest import BUILD, REPOSITORY
from copy_programs import run
from packaging_samples import commands_in, help_of, install, options_in

GUIDES = REPOSITORY / "scripts/docs"
FENCED = re.compile(r"^ *(```+|~~~+)[^\n]*\n(.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(<?([^()\s>]+)>?(?: \"[^\"]*\")?\)")
# Words of that form that are not commands: a profile's format.
NO_COMMANDS = {"asterope-profile"}
# Options that guides name by themselves and that are other programs': pkg-config's, sbatch's.
OTHERS_OPTIONS = {"--libs", "--exclusive", "--mem", "--requeue"}


def _documents() -> list[Path]:
    """All Markdown of the project, without that of build folders and installed packages."""
    found = []
    for folder, folders, files in os.walk(REPOSITORY):
        built = {"CMakeCache.txt", "pyvenv.cfg"} & set(files)
        folders[:] = [] if built else [name for name in folders if not name.startswith(".")]
        if not built:
            found += [Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(found)


DOCUMENTS = _documents()
of_each_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix()
)


# --- Reading Markdown ---


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


class Text(NamedTuple):
    """A document, taken apart."""

    links: list[str]
    blocks: str  # code that stands apart
    command_lines: list[str]  # all code; a backslash joins lines

    @classmethod
    def of(cls, markdown: str) -> Text:
        text = FENCED.sub("", markdown)
        indented = re.findall(r"^    .*\n", text, re.MULTILINE)  # or a list's: looked for as well
        blocks = "".join([*(found[2] for found in FENCED.finditer(markdown)), *indented])
        spans = [" ".join(found[2].split()) for found in SPAN.finditer(text)]
        lines = [*blocks.replace("\\\n", " ").splitlines(), *spans]
        return cls(LINK.findall(SPAN.sub("", text)), blocks, lines)


def anchors(markdown: str) -> set[str]:
    """The names of headings in links, as GitHub makes them."""
    seen: Counter[str] = Counter()
    names = set()
    for found in re.finditer(r"^#{1,6} +(.+?) *#*$", markdown, re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", found[1].lower()).replace(" ", "-")
        names.add(f"{words}-{seen[words]}" if seen[words] else words)
        seen[words] += 1
    return names


# --- Links ---


def dead_links(document: Path) -> list[str]:
    dead = []
    for link in Text.of(read(document)).links:
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not re.match(r"[a-z]+:", link):
            is_there = target.exists() and (not anchor or anchor in anchors(read(target)))
            dead += [] if is_there else [link]
    return dead


@of_each_document
def test_links_lead_somewhere(document: Path) -> None:
    assert dead_links(document) == []


def test_those_of_an_installed_tree_do_and_its_files_may_be_run_as_before(
    build_dir: Path, tmp_path: Path
) -> None:
    doc = install(build_dir, tmp_path) / "share/doc/asterope"
    pages = {page: dead_links(page) for page in doc.rglob("*.md")}
    assert [*filter(None, pages.values())] == []
    assert {"README.md", "system.md"} <= {page.name for page in pages}
    assert not [*doc.rglob("__pycache__")]
    assert (doc / "scripts/fleet/submit.sh").stat().st_mode & 0o100


def test_every_guide_can_be_reached_from_the_readme() -> None:
    reached, open_ones = set(), {REPOSITORY / "README.md"}
    while open_ones:
        document = open_ones.pop()
        reached.add(document)
        links = Text.of(read(document)).links
        targets = {(document.parent / link.partition("#")[0]).resolve() for link in links}
        open_ones |= {target for target in targets if target in DOCUMENTS} - reached
    assert [str(guide) for guide in sorted(set(GUIDES.glob("*.md")) - reached)] == []


def test_every_picture_is_in_a_document() -> None:
    pictures = set((REPOSITORY / "generated/pictures").iterdir())
    shown = {
        (one.parent / link).resolve() for one in DOCUMENTS for link in Text.of(read(one)).links
    }
    assert sorted(pictures - shown) == []


# --- Commands ---


@functools.cache
def commands() -> dict[str, dict[str | None, set[str]]]:
    """The commands of the build, and scripts/tune, by their --help: the options of each subcommand,
    and under None their own."""
    found = {}
    for program in sorted(BUILD.glob("asterope-*")):
        if program.is_file() and os.access(program, os.X_OK):
            text = help_of(program)
            found[program.name] = {None: options_in(text)}
            for name in commands_in(text):
                found[program.name][name] = options_in(help_of(program, name))
    tune, script = found["asterope-tune"], options_in(help_of(REPOSITORY / "scripts/tune"))
    return {**found, "scripts/tune": {**tune, None: tune[None] | script}}


def calls(line: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of ours in a line of shell, each with its words."""
    line = re.sub(r"(^|\s)#.*", "", line)
    line = re.sub(r"\S+ -m asterope ([a-z]+)", r"asterope-\1", line)
    # The program that asterope-prove runs has options of its own.
    line = re.sub(r"(--client|--metric) '[^']*'", r"\1", re.sub(r" -- .*", "", line))
    for part in re.split(r"&&|[|;<>()]+", line.replace("$(", ";")):
        words = [word.strip("[]{},.'\"`") for word in part.split()]
        while words and re.fullmatch(r"\$|sudo|env|time|nice|exec|[A-Z_]+=.*", words[0]):
            words.pop(0)
        for i, word in enumerate(words):
            name = re.sub(r"^.*/(?=asterope-|scripts/tune$)", "", word)
            first = i == 0 and re.fullmatch(r"asterope-[a-z]+", name) and name not in NO_COMMANDS
            if first or name in commands():
                yield name, words[i + 1 :]
                break


def unknown(line: str) -> list[str]:
    """The commands and options of ours that a line calls and that do not exist."""
    missing = []
    for name, words in calls(line):
        if name not in commands():
            missing.append(name)
            continue
        known, called = commands()[name][None], name
        for word in words:
            option = re.match(r"--[A-Za-z][\w-]*|-[A-Za-z]", word)  # -oFILE is one word
            if word in commands()[name]:
                known, called = commands()[name][word], f"{name} {word}"
            elif option and option[0] not in known:
                missing.append(f"{called} {option[0]}")
    if re.match(r"--[a-z]", line):  # an option by itself is one of ours; others' have their program
        known = OTHERS_OPTIONS.union(*(own for of in commands().values() for own in of.values()))
        missing += set(re.findall(r"(?:^| )(--[a-z][\w-]*)", line)) - known
    return missing


@of_each_document
def test_commands_and_options_exist(document: Path, build_dir: Path) -> None:
    lines = Text.of(read(document)).command_lines
    assert [(line, unknown(line)) for line in lines if unknown(line)] == []


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("asterope-tune --rigor quick -o p.json && ls --none", []),
        ("x | ASTEROPE_X=1 asterope-bench --json=f --jsn f", ["asterope-bench --jsn"]),
        ("asterope-tune check p.json --rigor quick", ["asterope-tune check --rigor"]),
        ("python3 -m asterope generate p.json --prefix a --none", ["asterope-generate --none"]),
        ("scripts/tune --retune --rigor quick --none", ["scripts/tune --none"]),
        ("asterope-brew p.json", ["asterope-brew"]),
        ("--rigr quick", ["--rigr"]),
    ],
)
def test_absent_commands_and_options_are_found(
    line: str, missing: list[str], build_dir: Path
) -> None:
    assert unknown(line) == missing


# --- The tour of the folders ---


def test_the_tour_names_every_folder() -> None:
    markdown = read(REPOSITORY / "CONTRIBUTING.md")
    tour = re.search(r"^## The tour\n+```\n(.*?)^```", markdown, re.MULTILINE | re.DOTALL)[1]
    named, top = set(), ""
    for indent, folder in re.findall(r"^( *)(\w+)/ ", tour, re.MULTILINE):
        top = top if indent else folder
        named.add(f"{top}/{folder}" if indent else folder)
    tracked = run("git", "-C", REPOSITORY, "ls-files", "-z")
    if tracked.returncode:
        pytest.skip("needs a Git checkout to tell the project's folders from others")
    files = [path.split("/") for path in tracked.stdout.split("\0") if not path.startswith(".")]
    folders = {"/".join(path[:depth]) for path in files for depth in (1, 2) if len(path) > depth}
    mirrors = {re.sub("^tuner/", "tests/", folder) for folder in named}
    assert sorted(folders - named - mirrors) == []


# --- Figures and pictures ---


# A measured figure; and the line that says of when a section of the measurements is.
MEASURED = re.compile(
    r"\d[\d.]* (?:%|times)(?: \w+)? (?:faster|slower|as (?:fast|long))|\d GB/s|\d of libc's speed"
    r"|(?:Zen \d|EPYC|Xeon)[^|]{0,150}?\d (?:ns|us|µs|ms|%)"
)
_DATE = r"\b(?:November|December)\s+\d{1,2},\s+20\d\d"
DATED = re.compile(rf"^\*[^*]*{_DATE}[^*]*\*$", re.MULTILINE)


def undated(document: str, markdown: str) -> list[str]:
    """Its sections whose figures stand by themselves. In the measurements these lack a date or a
    command. In other guides they lack a date, lead to no measurements and show no run."""
    found = []
    for section in re.split(r"^(?=## )", markdown, flags=re.MULTILINE):
        heading = section.partition("\n")[0]
        blocks = Text.of(section).blocks
        figures = MEASURED.search(section) or re.search(r"\b\d\.\d\d\b", blocks)
        if document == "measurements.md" and heading.startswith("## ") and figures:
            has_command = re.search(r"asterope-|scripts/", section) or "](#" in section
            if not (DATED.search(section) and has_command):
                found.append(heading)
        elif document != "measurements.md" and MEASURED.search(section):
            shown = "measurements.md" in section or re.search(_DATE, section)
            shown = shown or re.search(r"^\$ |^    ", blocks, re.MULTILINE)
            found += [] if shown else [heading]
    return found


@pytest.mark.parametrize("guide", sorted(GUIDES.glob("*.md")), ids=lambda path: path.name)
def test_figures_stand_with_their_command_and_date(guide: Path) -> None:
    assert undated(guide.name, read(guide)) == []


def test_a_figure_by_itself_is_found() -> None:
    dated = "*Of November 24, 2026.*\n\n"
    run = "```\n$ asterope-bench\nall 1.20\n```\n"
    for name, text, bad in (
        ("faq.md", "## A\nIt is 1.4 times as fast.\n", ["## A"]),
        ("faq.md", "## A\nIt is 1.4 times as fast ([all](measurements.md#a)).\n", []),
        ("faq.md", f"## A\nIt is 7 % faster.\n\n{run}", []),
        ("faq.md", "## A\nWith 95 % confidence, within 3 %.\n", []),
        ("faq.md", "## A\nOn a Zen 4 it takes 4.1 ns.\n", ["## A"]),
        ("faq.md", "## A\nOn a Zen 4 (November 21, 2026) it takes 4.1 ns.\n", []),
        ("measurements.md", f"# M\n\n## A\n\n{run}", ["## A"]),
        ("measurements.md", f"# M\n\n## A\n\n{dated}It is 28 GB/s.\n", ["## A"]),
        ("measurements.md", f"# M\n\n## A\n\n{dated}{run}", []),
    ):
        assert undated(name, text) == bad, text


def test_figures_that_a_guide_quotes_are_those_of_the_measurements() -> None:
    measured = read(GUIDES / "measurements.md").splitlines()
    block = r"^```\n({}.*?)^```"
    for guide, first in ((GUIDES / "workloads.md", ""), (REPOSITORY / "README.md", "new memory")):
        quoted = re.findall(block.format(first), read(guide), re.MULTILINE | re.DOTALL)
        assert quoted and set("".join(quoted).splitlines()) <= set(measured), guide


@pytest.mark.slow
def test_the_program_of_a_guide_copies_frames_and_little_else(build_dir, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")
    program = REPOSITORY / "tests/examples/your-program/frames.py"
    command = ("-o", tmp_path / "r.json", "--", sys.executable, program)
    done = run_command(build_dir / "asterope-record", *command)
    assert (done.returncode, done.stdout) == (0, "800\n")
    *others, frames = json.loads(read(tmp_path / "r.json"))["bands"]
    assert frames["calls"] == 400  # of 3840 x 2160 x 3 bytes
    assert frames["share"] > 10 * sum(band["share"] or 0 for band in others)


def test_the_guide_counts_the_candidates_of_each_size_as_the_space_does() -> None:
    guide = read(GUIDES / "how-it-works.md")
    told = re.search(r"\(With\s+all\s+registers\s+(.+?)\s+on\.\)", guide, re.DOTALL)[1]
    space = of("x86_64").pipelines
    paper = [variant for variant in space.variants() if not variant.departures]
    counts = re.findall(r"([\d,]+) (?:at|from) (\d+) (B|KiB)", told)
    assert len(counts) == 4
    for count, number, unit in counts:
        size = int(number) * {"B": 1, "KiB": 1024}[unit]
        distances = {v: space.VALUES["pd"] if v.ps else (0,) for v in paper if size > v.acts_above}
        acting = sum(64 * pd < size for own in distances.values() for pd in own)
        assert acting == int(count.replace(",", "")), f"{number} {unit}"


def test_the_readmes_table_has_the_means_that_the_measurements_quote() -> None:
    run = read(GUIDES / "measurements.md").split("\n## Against two glibcs\n")[1].split("\n## ")[0]
    names = re.search(r"^x libc +(\w.*)$", run, re.MULTILINE)[1].split()
    means = re.search(r"^all +([\d. ]+)$", run, re.MULTILINE)[1].split()
    quoted = dict(zip(names, means[::2]))  # each with that of another library behind it
    assert len(quoted) > 3 and len(means) == 2 * len(names)
    row = r"^\| (\w+): [^|]+\| (\d\.\d\d) \|"
    table = dict(re.findall(row, read(REPOSITORY / "README.md"), re.MULTILINE))
    assert {name: table.get(name) for name in quoted} == quoted
