"""The common part of the tests of fleet jobs: a short search, stand-ins, a program that copies."""

from __future__ import annotations

import subprocess
from pathlib import Path

from command_errors import script
from copy_programs import compiled

QUICK = "--rigor quick --sizes 128,4K --workload hot --space paper --threads 1 --quiet"

# Stands in for asterope-tune in tests of the jobs alone. It prints its node and its task. If a file
# `ends-TASK` lies beside it, that file has the exit code of the next run. A merge prints its
# arguments.
STAND_IN = """\
#!/usr/bin/env bash
given=$*
until [[ $# == 0 || $1 == -o ]]; do shift; done
task=$(basename -- "$2" .json)
[[ $given != merge* ]] || task=merge
ends=$(dirname -- "$0")/ends-$task
if [[ -e $ends ]]; then
    read -r code <"$ends"
    rm -- "$ends"
    echo "asterope-tune: ends with $code" >&2
    exit "$code"
fi
[[ $task == merge ]] && printf '"%s"\\n' "$given" >"$2" && exit
printf '"%s %s"\\n' "${SLURMD_NODENAME}" "$task" >"$2"
"""
# In place of asterope-generate: writes what it was asked for.
GENERATOR = """\
#!/bin/sh
mkdir -p routine
echo "$@" >routine/arguments
"""
PROGRAM = """\
#include "asterope_memcpy.h"
#include <stdio.h>
int main(void)
{
    char to[6];
    asterope_memcpy(to, "right", sizeof to);
    printf("%s by %s", to, asterope_profile());
    return 0;
}
"""


def assert_dispatches(routine: Path, folder: Path) -> None:
    """On the machine of the profile `here`, the routine takes that or what the environment says."""
    program = compiled(folder / "copies", PROGRAM, "-I", routine, routine / "asterope_memcpy.c")
    for environment, chosen in (({}, "here"), ({"ASTEROPE_PROFILE": "fallback"}, "fallback")):
        done = subprocess.run([program], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"right by {chosen}")


def install_stand_ins(folder: Path) -> Path:
    programs = folder / "bin"
    programs.mkdir()
    script(programs / "asterope-tune", STAND_IN)
    script(programs / "asterope-generate", GENERATOR)
    return programs
