"""Arguments that the C++ commands refuse: one line says why, and the command does nothing.

Each option has one value here; the tests of their parsers have more.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from command_errors import only_error_of, run_command

SETS = ("--operation", "memset")
NO_ROUTINE = ("--no-generate", "--system", "--user")
SYSTEM = ("8K", ".", "4", "128", "1", "4", "2")

# Command -> its arguments, and last a part of the message.
BAD = {
    "tune": [
        ["--rigor", "slow", "rigor 'slow' is unknown"],
        ["--workload", "warm", "workload 'warm' is unknown"],
        ["--space", "all", "space 'all' is unknown"],
        ["--threads", "65", "--threads"],
        ["--without", "sse4_1,avx1024", "--without"],
        ["--cpu", "9999", "9999"],
        ["--seed", "-1", "--seed"],
        ["--log", "missing/t.jsonl", "missing/t.jsonl"],
        ["--log", "a.json", "-o", "./a.json", "./a.json: is the log of this search, and would be"],
        ["--resume", "--log", "/dev/null", "/dev/null is not a regular file"],
        ["-o", "missing\n/p.json", "cannot write missing?/p.json"],
        ["--sizes", "8K,64", "64"],
        ["--sizes", "--sizes"],
        ["--source-map", "", "--source-map"],
        ["--time-budget", "10", "duration '10' has no unit"],
        ["--sizes", ",".join(map(str, range(128, 385))), "--sizes names 257: choose at most 256"],
        ["--operations", "memset", "memset"],
        ["--reference", "new=missing.so:memcpy", "missing.so"],
        ["--reference", "a.so", "'a.so' has no name: write NAME=PATH[:MEMCPY[,MEMSET]]"],
        ["--reference", "new=a.so:", "'new=a.so:' has no function of"],
        ["--operations", "memcpy", "--reference", "new=a.so:,set", "of --operations: write NAME="],
        ["--reference", "libc=a.so:memcpy", "libc is the name of another copy"],
        ["--quiet=no", "quiet takes no value"],
        ["--system", "--user", "--user"],
        ["-o", "profile.json", "--user", "--user"],
        *(["--strict", other, f"{other} excludes --strict"] for other in NO_ROUTINE),
        ["tune", "tune"],
        ["--bogus", "not expected: --bogus;"],
        ["--help-jso", "not expected: --help-jso;"],  # no hidden option is told
        ["--serve-trials", "0", "--serve-trials is for this program itself"],
        ["--rigr", "quick", "(did you mean --rigor?)"],
        ["--log", "check", "--resum", "(did you mean --resume?)"],
        ["--rigor", "quick", "merg", "(did you mean merge?)"],
        ["--cpu", "0", "check", "--measure", "--cpu stands before the command"],
        ["--quiet", "tunables", "--quiet stands before the command"],
    ],
    "tune check": [
        ["--measure=0", "a.json", "measure takes no value"],
        ["a.json", "b.json", "b.json"],
        ["--cpu", "0", "a.json", "--measure"],
        ["--mesure", "p.json", "(did you mean --measure?)"],
        ["p.json", "--json", "p.json", "is the profile, and would be lost: choose another --json"],
        ["--rigor", "quick", "not expected: --rigor;"],  # nor an option of another command
    ],
    "tune diagnose": [
        ["--only", "working_set,loops", "loops"],
        ["--json", "", "--json: must not be empty"],
        ["", "PROFILE: must not be empty"],
        ["--json", "missing/report.json", "missing"],
        ["missing.json", "missing.json"],
        ["p.json", "--json", "p.json", "is the profile, and would be lost"],
    ],
    "tune replay": [["a.trials", "-o", "a.trials", "is the log, and would be lost"]],
    "tune tunables": [
        ["--sizes", "64", "size 64 B is below 128 B"],
        ["--rigor", "lazy", "choose quick, standard or exhaustive"],
        ["--workload", "warm", "choose balanced"],
        ["--cpu", "99999", "99999"],
        ["-o", "none/found.json", "none"],
    ],
    "bench": [
        ["--rounds", "2", "--rounds"],
        ["--sizes", "12Q", "12Q"],
        ["--cpu", "9999", "9999"],
        ["--json", "missing/report.json", "missing"],
        ["--check", "0", "--check"],
        ["--recording", "missing.json", "missing.json"],
        ["--profile", "missing.json", "missing.json"],
        ["--bogus", "--bogus"],
        ["--rounds", "5", "messages", "--rounds stands before the command"],
        ["--reference", "glibc=libpeer.so:copy", "glibc"],
        ["--peer", "asterope=libpeer.so:copy", "asterope"],
        ["--peer", "memcopy", "'memcopy' is neither a built-in copy"],
        ["--peer", "avx", "--peer", "avx=libpeer.so:copy", "avx"],
        ["--suite", "large", "large"],
        ["--suite", "fresh", "--sizes", "128,1K", "fresh is timed from 64 KiB up"],
        ["--suite", "mix_l1", "is not one of memcpy's: choose workloads, sizes, "],
        [*SETS, "has no function asterope_memset"],
        [*SETS, "--suite", "aliased", "suite 'aliased' is not one of memset's: choose workloads, "],
        [*SETS, "--suite", "fetch", "cold, consume, fresh, fresh_huge, balanced or all"],
        [*SETS, "--peer", "avx", "--peer avx is a copy, and memset is timed"],
        ["--operation", "memmove", "choose memcpy or memset"],
    ],
    "bench messages": [
        ["--sizes", "1001", "1001 B is not a whole number"],
        ["--ring", "1M", "no room for a message"],
        ["--past-page", "16", "--past-page"],
        ["--suite", "mix", "--suite"],  # an option of the tables
    ],
    "bench cache": [
        ["--blocks", "12K", "12 KiB is not a power of two"],
        ["--sizes", "256", "256 B is less than"],
        ["--file", "1000K", "not a multiple of 1 MiB"],
    ],
    "bench locality": [
        ["none of systemSize"],
        ["1048576G", ".", "4", "128", "may be taken"],
        [*SYSTEM[:6], "0", "repCount '0'"],
        ["--memory", "4K", *SYSTEM, "more than the 4 KiB that may be taken"],
        ["--preset", "1", "--memory", "4K", "more than the 4 KiB that may be taken"],
        ["--preset", "3", "--memory", "1x", "1x"],
        ["--csv", "rows.csv", *SYSTEM, "--csv"],
    ],
}


@pytest.mark.parametrize(
    ("command", "words"),
    [(command, words) for command, cases in BAD.items() for words in cases],
    ids=lambda value: value if isinstance(value, str) else " ".join(map(repr, value[:-1])),
)
def test_bad_arguments_are_refused_in_one_line(
    build_dir: Path, plain_routine: Path, tmp_path: Path, command: str, words: list[str]
) -> None:
    program, *subcommand = f"asterope-{command}".split()
    *given, said = words
    routine = ["--routine", plain_routine] if program == "asterope-bench" else []
    done = run_command(build_dir / program, *subcommand, *given, *routine, cwd=tmp_path)
    message = only_error_of(program, done, 2)
    assert said in message and ("did you mean" in message) == ("did you mean" in said)
    assert len(message) < 400 and done.stdout == ""
    assert list(tmp_path.iterdir()) == []
