"""Checkouts with scripts/tune in them; its set-up and asterope-tune are stand-ins."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_errors import only_error_of, script

# What would install and build.
STAND_INS = r"""
set_up() {
    mkdir -p -- "$build"
    : >"$log"
}
configure() { :; }
build_targets() { printf '%s\n' "$*" >>"$root/targets"; }
"""

# Like the tool, it starts no search beside the log of another. Its `check` finds what the file
# "verdict" holds: an exit code, the word for it, and a warning. With 2 that is an error.
TOOL = r"""#!/usr/bin/env bash
printf '%s\n' "$*" >>"$ASTEROPE_CALLS"
case " $* " in
    *" --version "*) printf 'asterope-tune 0.1.0 (commit 0)\n' ;;
    *" -o "*)
        [[ -z ${ASTEROPE_WRITES_NOTHING-} ]] || exit 0
        options=" $* " log=''
        while [[ $# -gt 1 ]]; do
            [[ $1 != -o ]] || profile=$2
            [[ $1 != --log ]] || log=$2
            shift
        done
        [[ ! -e ${log:-$profile.trials} || $options == *" --resume "* ]] || exit 2
        [[ -z $log ]] || printf '{}\n' >"$log"
        printf '{}\n' >"$profile"
        ;;
    *" check "*)
        read -r code word doubt <"$ASTEROPE_VERDICT"
        [[ $code != 2 ]] || { printf 'p.json: %s\n' "$word" >&2; exit 2; }
        printf 'p.json %s\n\nThe same: all\n' "$word"
        [[ -z $doubt ]] || printf '%s\n' "$doubt" >&2
        exit "$code"
        ;;
esac
"""

BENCH = r"""#!/usr/bin/env bash
echo "compared: $*"
[[ $* != *" --json "* ]] || printf '{}\n' >"${@: -1}"
"""

# Refuses a map that is not there.
GENERATE = r"""#!/bin/sh
echo "asterope-generate $*" >>"$ASTEROPE_CALLS"
while [ $# -gt 0 ]; do
    [ "$1" != --places ] || [ -e "$2" ] || { echo "asterope-generate: $2: none" >&2; exit 2; }
    shift
done
"""

PROVISIONAL = "warning: noise: these winners are provisional; run again in a quieter hour"


class Checkout:
    """A copy of the scripts, with stand-ins for what takes minutes."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.root = folder / "checkout"
        self.scripts = self.root / "scripts"
        self.scripts.mkdir(parents=True)
        for name in ("tune", "setup.sh"):
            shutil.copy(repository / "scripts" / name, self.scripts)
        package = shutil.copytree(repository / "scripts" / "asterope", self.scripts / "asterope")
        shutil.copy(repository / "tuner" / "timing" / "workloads" / "workloads.json", package)
        self.home = folder / "home"
        self.home.mkdir()
        self.calls = folder / "calls"
        self.verdict = folder / "verdict"
        self.verdict.write_text("0 fits\n")
        self.profile = self.root / "generated" / "profile.json"
        self.environment = {
            **{name: text for name, text in os.environ.items() if name != "XDG_CONFIG_HOME"},
            "HOME": str(self.home),
            "ASTEROPE_CALLS": str(self.calls),
            "ASTEROPE_VERDICT": str(self.verdict),
        }

    def set_up(self, functions: str) -> None:
        """Puts these in the place of those that install and build."""
        with (self.scripts / "setup.sh").open("a") as setup:
            setup.write(f"{functions}\n")

    def run(self, *arguments: object, **settings: object) -> subprocess.CompletedProcess:
        """It knows what asterope-tune was called with, and how many of these were searches."""
        self.calls.write_text("")
        command = [str(word) for word in (self.scripts / "tune", *arguments)]
        settings = {"cwd": self.home, "env": self.environment, "timeout": 60, **settings}
        done = subprocess.run(command, capture_output=True, text=True, **settings)
        done.asked = self.calls.read_text().splitlines()
        done.searches = sum(call.startswith("-o ") for call in done.asked)
        return done


@pytest.fixture
def bare(repository: Path, tmp_path: Path) -> Checkout:
    """As cloned: nothing is installed, nothing is built."""
    return Checkout(repository, tmp_path)


@pytest.fixture
def checkout(bare: Checkout) -> Checkout:
    bare.set_up(STAND_INS)
    bare.profile.parent.mkdir()
    build = bare.root / "build"
    build.mkdir()
    script(build / "asterope-tune", TOOL)
    script(build / "asterope-bench", BENCH)
    script(build / "asterope-generate", GENERATE)
    return bare


def only_line(done: subprocess.CompletedProcess) -> str:
    assert done.stdout == ""
    return only_error_of("scripts/tune", done, 2)
