"""The command asterope-report: profile, sample log and bench results as one page with pictures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..arguments import file_name
from ..atomic_file import check_output, refuse_loss, write_output
from ..command_line import DONE, PACKAGES, Parser, run, show, tell, to_install
from ..faults import BadInput, Failure, one_line
from ..figures import counted
from ..profile_places import profile_to_read
from .inputs import read_inputs

PROGRAM = "asterope-report"


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description="Makes one self-contained page of the results of asterope-tune, asterope-bench "
        "and asterope-prove: throughput and ratios to libc by size, heat maps of the search, the "
        "chosen intervals, a program's gain, samples with two modes, the machine, its noise.",
        epilog="Exit codes: 0 done; 1 failed while writing, or a module is missing; 2 bad "
        "arguments or bad input; 130 interrupted.",
    )
    parser.add_argument(
        "inputs",
        metavar="FILE",
        type=file_name,
        nargs="*",
        help="a profile, a sample log (asterope-tune --log; also of a run that still goes on), "
        "the --json file of asterope-bench or asterope-prove: one of each at most, in any order, "
        "all of one machine (default: your own profile, $XDG_CONFIG_HOME/asterope/profile.json, "
        "else /etc/asterope/profile.json)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=file_name,
        default="asterope-report.html",
        help="the page to write (default: %(default)s)",
    )
    parser.add_argument(
        "--png", metavar="DIR", type=file_name, help="write the pictures there as PNG, too"
    )
    return parser


def _run(arguments: argparse.Namespace) -> int:
    output = Path(arguments.output)
    names = arguments.inputs or [str(profile_to_read(None))]
    for path in names:
        refuse_loss(output, path, "an input", "-o")
    check_output(output)
    inputs = read_inputs(names)
    try:
        from . import page  # not before the inputs are good: matplotlib takes a second to load
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and missing in PACKAGES:
            raise  # run() tells how to install it
        if missing not in ("matplotlib", "numpy"):
            raise Failure(f"matplotlib cannot be loaded: {_first_cause(error)}") from None
        raise Failure(f"the pictures need {missing}, {to_install('matplotlib')}") from None
    sections = page.make_sections(inputs)
    if not sections:
        why = "" if inputs.log is None else ": a search must have timed its first size"
        raise BadInput(f"{', '.join(map(one_line, names))}: nothing in there to show yet{why}")
    html = page.render_page(inputs, sections)  # all of it, before any file is touched
    pictures = [picture for section in sections for picture in section.pictures]
    folder = None if arguments.png is None else Path(arguments.png)
    pngs = {folder / f"{one.name}.png": one for one in pictures} if folder is not None else {}
    for path in names:
        for png in pngs:
            refuse_loss(png, path, "an input", "--png")
    for png, picture in pngs.items():
        write_output(png, picture.rendered("png"))
    write_output(output, html)
    for doubt in inputs.doubts:
        tell(PROGRAM, f"warning: {doubt}")
    taken = "" if arguments.inputs else f" from {one_line(names[0])}"
    show(f"wrote {one_line(output)} ({counted(len(pictures), 'picture')}){taken}")
    return DONE


def _first_cause(error: BaseException) -> str:
    """The first line of its cause: numpy fills a screen with words if a library finds no memory."""
    while error.__cause__ is not None:
        error = error.__cause__
    return one_line((str(error).splitlines() or [type(error).__name__])[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parser().parse_args(argv)
    return run(PROGRAM, lambda: _run(arguments))
