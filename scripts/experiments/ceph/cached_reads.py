"""Reads of a file that fits a Ceph client's cache, under each copy. It sets up its own cluster on
the loopback, runs cached_read.c through asterope-prove, and takes the cluster down.

It is an experiment around the commands, not one of them: it needs packages that few machines have,
and is not installed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1]))

from asterope.command_line import BAD_INPUT, DONE, FAILED, STALE, Parser, fail, run  # noqa: E402
from asterope.faults import Failure, one_line  # noqa: E402
from asterope.figures import bytes_text  # noqa: E402
from asterope.prove import command as prove  # noqa: E402
from asterope.prove.options import DEFAULT_LIBRARY, UNTOLD  # noqa: E402
from cluster import PACKAGES, Cluster, missing  # noqa: E402

PROGRAM = "cached_reads.py"
USES = {"read": "read", "used": "read and summed"}
CHUNK = 4 << 20  # the file is written by so much a call, and read by no more


def _sizes(text: str) -> list[int]:
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,7})([KM]?)", part)
        size = int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2]] if match else 0
        if size < 128 or CHUNK % size:
            raise argparse.ArgumentTypeError(f"'{part[:40]}' is not a power of two from 128 to 4M")
        sizes.append(size)
    return sizes


def _mib(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 4 <= int(text) <= 65536 or int(text) % 4:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a multiple of 4 from 4 to 65536")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [OPTIONS] [-- OPTIONS OF asterope-prove]",
        description="Reads a file through a Ceph client whose cache holds it, under libc and other "
        "copies, by so many bytes a call into one buffer. Each block is summed, or not. The limit "
        "is what one core does without Ceph.",
        epilog="Exit codes: those of asterope-prove, the highest of all calls; 1 also where Ceph "
        f"or a compiler is missing (apt-get install {PACKAGES}).",
    )
    parser.add_argument("--mib", metavar="N", type=_mib, default=512, help="of the file")
    parser.add_argument(
        "--sizes", metavar="LIST", type=_sizes, default="16K,64K,256K,1M,4M", help="bytes a call"
    )
    parser.add_argument(
        "--prefetch-nt",
        action="store_true",
        help="compare with asterope-bench's prefetch_nt, after Polytropon, too",
    )
    parser.add_argument("--json", metavar="DIR", help="write asterope-prove's JSON files into DIR")
    parser.add_argument("options", metavar="OPTION", nargs="*", help="of asterope-prove")
    return parser


def _compile(compiler: str, source: str, target: Path, *flags: str) -> Path:
    if not shutil.which(compiler):
        raise Failure(f"{compiler} is not installed: apt-get install g++")
    command = [compiler, *flags, str(HERE / source), "-o", str(target)]
    if source.endswith(".c"):
        command.append("-lcephfs")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["fails"]
        raise Failure(f"{compiler} {source}: {one_line(lines[0])}: apt-get install {PACKAGES}")
    return target


def _output_of(*command: object) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["fails without a word"])[-1]
        raise Failure(one_line(said))
    return done.stdout


def _copies(options: Sequence[str], more: Sequence[Path]) -> list[str]:
    """The options of asterope-prove, with more copies."""
    if not more:
        return list(options)
    parser = Parser(PROGRAM, add_help=False)
    parser.add_argument("--copies", default=DEFAULT_LIBRARY)
    known, others = parser.parse_known_args(options)
    added = (f"{path.stem}={path}" for path in more)
    return [f"--copies={','.join((known.copies, *added))}", *others]


def _experiment(arguments: argparse.Namespace, folder: Path) -> int:
    reader = _compile(
        *("cc", "cached_read.c", folder / "cached_read"),
        *("-O3", "-std=gnu11", "-D_FILE_OFFSET_BITS=64"),
    )
    with closing(Cluster(folder, arguments.mib)) as cluster:
        _output_of(reader, "write", cluster.configuration, arguments.mib)
        return _prove(arguments, reader, cluster, folder)


def _prove(arguments: argparse.Namespace, reader: Path, cluster: Cluster, folder: Path) -> int:
    more = []
    if arguments.prefetch_nt:
        flags = ("-O2", "-std=c++20", "-fno-builtin", "-fPIC", "-shared", f"-I{REPOSITORY}/tuner")
        more = [_compile("c++", "prefetch_nt_preload.cpp", folder / "prefetch_nt.so", *flags)]
    options = _copies(arguments.options, more)
    results = Path(arguments.json) if arguments.json else folder
    worst, rows = DONE, []
    for size in arguments.sizes:
        limits = _output_of(reader, "limit", arguments.mib, size)
        for use, words in USES.items():
            print(f"\n{bytes_text(size)} a call, {words}: {arguments.mib} MiB, GB/s", flush=True)
            file = results / f"{use}-{size}.json"
            metric = ("--metric", f"^{use} ([0-9.]+) GB/s", "--larger-is-better")
            measured = (reader, use, cluster.configuration, arguments.mib, size)
            command = map(str, measured)
            code = prove.main([*options, *metric, "--json", str(file), "--", *command])
            if code not in (DONE, STALE, UNTOLD):
                return code
            worst = max(worst, code)
            found = json.loads(file.read_text())
            if found["rounds"]:  # a short time may end before the first
                rows.append(_row(size, use, limits, found))
    print(
        f"\nGB/s of {arguments.mib} MiB without Ceph, and of libc through it; then ratios to it\n"
    )
    print(f"{'a call':8}  {'':4}  {'alone':>6} {'copied':>6}  {'libc':>6}   copies")
    print("\n".join(rows), flush=True)
    return worst


def _row(size: int, use: str, limits: str, found: dict) -> str:
    def figure(name: str) -> float:
        return float(re.search(rf"^{name} ([0-9.]+) GB/s", limits, re.MULTILINE)[1])

    copied = figure("copied and used" if use == "used" else "copied")
    libc, _, *others = found["copies"]
    ratios = (
        f"{one['name']} {one['ratio']['median']:.2f} "
        f"({one['ratio']['low']:.2f}..{one['ratio']['high']:.2f})"
        for one in others
    )
    floor = found["noise_floor"]
    return (
        f"{bytes_text(size):8}  {use:4}  {figure('alone'):6.1f} {copied:6.1f}  "
        f"{libc['figure']:6.1f}   {', '.join(ratios)}; "
        f"floor ({floor['low']:.2f}..{floor['high']:.2f})"
    )


def _answer(arguments: argparse.Namespace) -> int:
    absent = missing()
    if absent:
        return fail(PROGRAM, f"{absent} is not installed: apt-get install {PACKAGES}", FAILED)
    if {"--metric", "--json", "--client"} & {one.partition("=")[0] for one in arguments.options}:
        return fail(PROGRAM, "give no --metric, --json or --client behind --", BAD_INPUT)
    try:
        # An interrupted or failed experiment leaves neither processes nor the folder behind.
        with tempfile.TemporaryDirectory(prefix="asterope-ceph-") as folder:
            return _experiment(arguments, Path(folder))
    except (Failure, OSError) as error:
        return fail(PROGRAM, one_line(error), FAILED)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    return run(PROGRAM, lambda: _answer(arguments))


if __name__ == "__main__":
    sys.exit(main())
