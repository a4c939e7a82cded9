"""Finds programs that gain: measures small drivers of programs and libraries, and writes a table.

Each program is installed into FOLDER, recorded, tried inside, and run whole under libc, the routine
and its variants. FOLDER/results has a file for each, FOLDER/survey.md and survey.json have all.
A program that has a result is not measured again; delete the result for that. The table names the
programs that cannot be installed or fail, with the reason. The next run tries them again.

Exit codes: 0 all measured; 1 some are left out; 2 bad arguments; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "scripts"))

from asterope.arguments import duration, whole_number  # noqa: E402
from asterope.atomic_file import write_output  # noqa: E402
from asterope.command_line import DONE, FAILED, Parser, did_you_mean, run, show, tell  # noqa: E402
from asterope.faults import BadInput, Failure, one_line  # noqa: E402
from asterope.record.launching import adopt_orphans  # noqa: E402
from measuring import LONGEST, PRELOAD, ROUTINE, Measurement  # noqa: E402
from programs import PROGRAMS, Program  # noqa: E402
from table import markdown  # noqa: E402

NAMES = [program.name for program in PROGRAMS]


def absolute(text: str) -> Path:
    return Path(text).absolute()


def parse(arguments: list[str]) -> argparse.Namespace:
    description, _, rest = __doc__.partition("\n\n")
    parser = Parser(
        "survey",
        usage="python3 scripts/experiments/survey [OPTIONS] FOLDER [NAME ...]",
        description=description,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add, seconds = parser.add_argument, {"metavar": "TIME", "type": duration}
    add("folder", metavar="FOLDER", type=absolute, nargs="?")
    add("names", metavar="NAME", nargs="*", help="these programs alone")
    add("--list", action="store_true", help="list the programs, and end")
    add("--table", action="store_true", help="write the table, and measure nothing")
    other = "the survey.json of an earlier survey, whose whole runs stand beside these"
    add("--beside", metavar="FILE", type=Path, help=other)
    add("--time", default=12.0, help="of a trial (default: 12s)", **seconds)
    add("--work", default=0.5, help="of a run, its start left out (default: 0.5s)", **seconds)
    add("--rounds", metavar="N", type=whole_number(6, 1000), default=8, help="(default: 8)")
    folder = {"metavar": "FOLDER", "type": absolute, "default": REPOSITORY / "build"}
    add("--build", help="of the commands and the routine (default: build)", **folder)
    file = {"metavar": "FILE", "type": absolute, "default": REPOSITORY / "generated/profile.json"}
    add("--profile", help="of the routine (default: generated/profile.json)", **file)
    options = parser.parse_args(arguments)
    if not options.list and options.folder is None:
        parser.error("the following arguments are required: FOLDER")
    if options.time > LONGEST / 2:
        parser.error(f"--time: name at most {LONGEST // 2}s, for a trial ends later than that")
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no program {name[:80]}{did_you_mean(name, NAMES)}")
    return options


def require_build(options: argparse.Namespace) -> None:
    commands = [f"asterope-{name}" for name in ("record", "prove", "generate")]
    of_build = [options.build / name for name in (*commands, ROUTINE, PRELOAD)]
    for file in (*of_build, options.profile):
        if not file.is_file():
            raise BadInput(f"{one_line(file)}: there is no such file: run scripts/tune")


def measure(program: Program, options: argparse.Namespace) -> dict[str, Any]:
    """The program's row."""

    def say(step: str) -> None:
        if sys.stderr.isatty():
            show(f"\r\033[K{step and f'{program.name}: {step}'}", sys.stderr, end="")

    row: dict[str, Any] = {
        "name": program.name,
        "work": program.work,
        "language": program.language,
        "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    try:
        row.update(Measurement(program, options).row(say))
    except (Failure, BadInput) as error:
        row["left_out"] = one_line(error)
    say("")
    return row


def read(file: Path) -> dict[str, Any] | None:
    """A row that was written before; None where the file is missing. Raises BadInput."""
    try:
        found = json.loads(file.read_text())
        if not {"name", "work", "measured"} <= found.keys():
            raise ValueError
        return found
    except FileNotFoundError:
        return None
    except (ValueError, AttributeError):
        raise BadInput(f"{one_line(file)}: holds no result of a program: delete it") from None


def read_survey(file: Path) -> dict[str, dict[str, Any]]:
    """The rows of another survey, by name. Raises BadInput."""
    try:
        return {row["name"]: row for row in json.loads(file.read_text())}
    except OSError as error:
        raise BadInput(f"{one_line(file)}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError):
        raise BadInput(f"{one_line(file)}: is not a survey.json") from None


def survey(options: argparse.Namespace) -> int:
    results: Path = options.folder / "results"
    earlier = read_survey(options.beside) if options.beside else {}
    rows = {name: read(results / f"{name}.json") for name in NAMES}
    if not options.table:
        require_build(options)
        adopt_orphans(True)
        for program in PROGRAMS:
            row = rows[program.name]
            if options.names and program.name not in options.names:
                continue
            if row is None or "left_out" in row:
                row = rows[program.name] = measure(program, options)
                write_output(results / f"{program.name}.json", json.dumps(row, indent=1) + "\n")
                if "left_out" in row:
                    tell("survey", f"{program.name} is left out: {row['left_out']}")
    found = [row for row in rows.values() if row]
    for row in found:
        if row["name"] in earlier:
            row["earlier"] = {"runs": earlier[row["name"]].get("runs", {})}
    text = markdown(found)
    write_output(options.folder / "survey.json", json.dumps(found, indent=1) + "\n")
    write_output(options.folder / "survey.md", text)
    show(text, end="")
    asked = options.names or NAMES
    return FAILED if any("left_out" in row for row in found if row["name"] in asked) else DONE


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    if options.list:
        for program in PROGRAMS:
            needs = ", ".join([*program.pypi, *program.debian]) or "nothing"
            show(f"{program.name:16} {program.language:11} {program.work} (needs {needs})")
        return DONE
    return run("survey", lambda: survey(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
