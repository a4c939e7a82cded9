"""The command asterope-apps: redis and sqlite3 with and without the preload library, paired."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from .. import __version__
from ..command_line import BAD_INPUT, DONE, FAILED, Parser, fail, run
from ..one_line import one_line
from ..robust import geometric_mean
from .application import Application, BadInput, Failure, Place
from .paired import Comparison, compare
from .redis import REDIS
from .sqlite import SQLITE

PROGRAM = "asterope-apps"
APPLICATIONS = {application.name: application for application in (REDIS, SQLITE)}


def _rounds(text: str) -> int:
    if not text.isdecimal() or not 3 <= int(text) <= 10000:
        raise argparse.ArgumentTypeError("rounds are 3 to 10000")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description="Times whole programs with libc's copy and with the preload library. Three "
        "processes of each live at once, with libc, with the library and with libc again, and are "
        "driven in turn, in an order drawn for each round: only times of one round are compared. "
        "redis: GET and SET of 64 KiB to 1 MiB; sqlite: blobs and rows of a database in memory.",
        epilog="Exit codes: 0 done; 1 failed while running, or the program is not installed; 2 bad "
        "arguments or no such library; 130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "application",
        metavar="APPLICATION",
        choices=[*APPLICATIONS, "all"],
        help=f"{', '.join(APPLICATIONS)}, or all that are installed",
    )
    parser.add_argument(
        "--preload",
        metavar="FILE",
        default="build/libasterope_preload.so",
        help="the library (default: %(default)s)",
    )
    parser.expert.add_argument(
        "--rounds",
        metavar="N",
        type=_rounds,
        help="rounds of all cells (default: what takes about half a minute)",
    )
    parser.expert.add_argument(
        "--cpu",
        metavar="N",
        type=int,
        help="run the programs on this CPU instead of the last one allowed; what drives them runs "
        "on another one, where there is one",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _library(path: str) -> Path:
    library = Path(path)
    if not library.is_file():
        raise BadInput(
            f"{one_line(path)}: no such library: build it with scripts/tune, or name one with "
            "--preload"
        )
    # ld.so would only complain and go on without it; and it splits LD_PRELOAD at these
    resolved = library.resolve()
    if any(separator in str(resolved) for separator in " :"):
        raise BadInput(f"{one_line(path)}: LD_PRELOAD takes no path with a blank or a colon")
    probe = subprocess.run(
        ["/bin/true"], env={"LD_PRELOAD": str(resolved)}, capture_output=True, text=True, timeout=60
    )
    if probe.returncode or probe.stderr:
        raise BadInput(f"{one_line(path)}: cannot be preloaded: {one_line(probe.stderr.strip())}")
    return resolved


def _cpus(wanted: int | None) -> tuple[int, int]:
    """The program's and its driver's."""
    allowed = sorted(os.sched_getaffinity(0))
    cpu = allowed[-1] if wanted is None else wanted
    if cpu not in allowed:
        raise BadInput(f"--cpu {cpu} is not there or not allowed to this process")
    others = [other for other in allowed if other != cpu]
    return cpu, others[-1] if others else cpu


def _time(application: Application, library: Path, rounds: int, cpus: tuple[int, int]) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="asterope-apps-")))
        sides = [
            stack.enter_context(closing(application.start(folder, Place(preloaded, *cpus))))
            for preloaded in (None, library, None)
        ]
        results = compare(application.cells, rounds, lambda cell, side: cell.seconds(sides[side]))
    print(
        f"\n{application.name:14} libc us  ours us  x libc  (low..high)   floor         "
        f"us are for {application.unit}; {rounds} paired rounds"
    )
    for cell, result in results.items():
        print(_row(cell.label, result))
    mean = geometric_mean(result.ratio.median for result in results.values())
    print(f"{'all':14} {mean:24.2f}  geometric mean", flush=True)


def _row(label: str, result: Comparison) -> str:
    return (
        f"{label:14} {result.libc * 1e6:7.1f} {result.ours * 1e6:8.1f} {result.ratio.median:7.2f}  "
        f"({result.ratio.low:.2f}..{result.ratio.high:.2f})  "
        f"({result.floor.low:.2f}..{result.floor.high:.2f})  {result.verdict}"
    )


def _run(arguments: argparse.Namespace) -> int:
    library = _library(arguments.preload)
    cpus = _cpus(arguments.cpu)
    everything = arguments.application == "all"
    chosen = APPLICATIONS.values() if everything else [APPLICATIONS[arguments.application]]
    installed = []
    for application in chosen:
        missing = application.missing()
        if missing:
            fail(
                PROGRAM,
                f"{application.name}: {missing} is not installed: apt-get install "
                f"{application.package}",
                FAILED,
            )
        else:
            installed.append(application)
    if not installed:
        return FAILED
    libc = " ".join(platform.libc_ver()) or "libc"
    print(
        f"{libc} against {one_line(arguments.preload)}, on CPU {cpus[0]}, driven from CPU "
        f"{cpus[1]}.\nx libc above 1: the library is faster; floor: libc against itself, in a "
        "process of its own each.",
        flush=True,
    )
    for application in installed:
        _time(application, library, arguments.rounds or application.rounds, cpus)
    return DONE


def _answer(arguments: argparse.Namespace) -> int:
    try:
        return _run(arguments)
    except BadInput as error:
        return fail(PROGRAM, str(error), BAD_INPUT)
    except (Failure, OSError) as error:
        return fail(PROGRAM, one_line(error), FAILED)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Bad arguments leave through SystemExit(2)."""
    arguments = _parser().parse_args(argv)
    return run(PROGRAM, lambda: _answer(arguments))
