"""The examples in other languages: each README's commands work, and its program copies.

Every example is copied to a fresh folder, as a stranger would, and built there by its README alone.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from copy_programs import need, output_of

pytestmark = pytest.mark.slow

REGISTRY = Path("/usr/share/cargo/registry")  # Debian's: the crates of its packages
GATHER = {
    "cpp": ("./gather",),
    "go": ("./gather",),
    "rust": ("target/release/gather",),
    "python": (sys.executable, "gather.py"),
}
NEEDS = {"cpp": "make g++ gcc", "go": "go gcc", "rust": "cargo gcc", "python": "cc"}
BUILD = {"cpp": "make", "rust": "cargo build --release", "go": "go build"}


def readme_commands(example: Path) -> str:
    """The commands that the example's README tells to type."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (example / "README.md").read_text(), re.M | re.S)
    assert blocks
    return "".join(blocks)


def environment(language: str, build_dir: Path, folder: Path) -> dict[str, str]:
    """The caller's, with asterope-generate on the PATH but no network; skips what is missing."""
    need(*NEEDS[language].split())
    if language == "rust" and not any(REGISTRY.glob("cc-*")):
        pytest.skip(f"no cc crate in {REGISTRY}: librust-cc-dev is not installed")
    if language == "python" and importlib.util.find_spec("numpy") is None:
        pytest.skip(f"numpy is not installed for {sys.executable}")
    files = {
        # README's python3 is the one that runs the tests, and has numpy
        "bin/python3": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
        "cargo/config.toml": '[source.crates-io]\nreplace-with = "installed"\n'
        f'[source.installed]\ndirectory = "{REGISTRY}"\n',
        # what others leave in the folder for temporary files must not get into the program
        "tmp/asterope_memcpy.h": "#error the wrong header\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(text)
    (folder / "bin/python3").chmod(0o755)
    path = f"{folder}/bin:{build_dir}:{os.environ['PATH']}"
    own = {"PATH": path, "CARGO_HOME": f"{folder}/cargo", "TMPDIR": f"{folder}/tmp"}
    own |= {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": "target", "CC": "gcc", "CXX": "g++"}
    own |= {"CGO_ENABLED": "1", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    return {**os.environ, **own}


@pytest.fixture(scope="session")
def built(repository: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    """Gives a language's example, built in a folder of its own by the commands of its README."""

    @functools.cache
    def build(language: str) -> Path:
        variables = environment(language, build_dir, tmp_path_factory.mktemp("environment"))
        example, folder = repository / "tests" / "examples" / language, tmp_path_factory.mktemp("a")
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(example, folder, ignore=ignored, dirs_exist_ok=True)
        profile = repository / "generated" / "reference" / "xeon-gold-5218.json"
        shutil.copy(profile, folder / "profile.json")
        output_of("bash", "-exc", readme_commands(folder), cwd=folder, env=variables)
        return folder

    return build


def gathered(folder: Path, language: str, content: bytes) -> bytes:
    how = {"input": content, "cwd": folder, "capture_output": True, "timeout": 60}
    return subprocess.run(GATHER[language], check=True, **how).stdout


@pytest.mark.parametrize("language", GATHER)
def test_the_readme_builds_a_program_that_copies(built, language):
    folder = built(language)
    assert (folder / "copy").read_bytes() == (folder / "README.md").read_bytes()
    for size in (0, 1, 3_000_001):
        content = random.Random(1).randbytes(size)
        assert gathered(folder, language, content) == content


# Copies inverted bytes, so that the result shows which function copied. Where GATE is told, it
# first says that it was called, and waits until it is told to go on. If that never comes, as the
# caller holds the lock, the alarm ends the process.
INVERTING = """
#include "asterope_memcpy.h"
#include <stdlib.h>
#include <unistd.h>

void *asterope_memcpy(void *__restrict to, const void *__restrict from, size_t bytes)
{
    const char *gate = getenv("GATE");
    char byte = 0;
    if (gate) alarm(20);
    if (gate && write(atoi(getenv("ARRIVED")), &byte, 1) + read(atoi(gate), &byte, 1) != 2) abort();
    for (size_t i = 0; i < bytes; ++i)
        ((unsigned char *)to)[i] = (unsigned char)~((const unsigned char *)from)[i];
    return to;
}

void *asterope_memmove(void *to, const void *from, size_t bytes)
{
    return asterope_memcpy(to, from, bytes);
}
"""
ROUTINE = {"cpp": ".", "rust": "routine", "go": "tuned"}


@pytest.mark.parametrize("language", BUILD)
def test_another_routine_is_noticed_and_copies_every_byte(built, build_dir, language, tmp_path):
    folder = shutil.copytree(built(language), tmp_path / language)
    (folder / ROUTINE[language] / "asterope_memcpy.c").write_text(INVERTING)
    variables = environment(language, build_dir, tmp_path)
    output_of(*BUILD[language].split(), cwd=folder, env=variables)
    assert gathered(folder, language, bytes(range(256))) == bytes(range(256))[::-1]


BESIDE = """
import os, threading
import numpy as np
import tuned_copy

arrived, gate = os.pipe(), os.pipe()
os.environ.update(ARRIVED=str(arrived[1]), GATE=str(gate[0]))
source, to = np.arange(1000), np.zeros(1000, int)
copy = threading.Thread(target=getattr(tuned_copy, {function!r}), args=(to, source))
copy.start()
os.read(arrived[0], 1)
assert not to.any()
os.write(gate[1], b"x")
copy.join()
assert (to == ~source).all()
"""


@pytest.mark.parametrize("function", ["copy", "move"])
def test_python_goes_on_while_it_copies(built, tmp_path, function):
    folder = built("python")
    shutil.copy(folder / "tuned_copy.py", tmp_path)
    (tmp_path / "gate.c").write_text(INVERTING)
    library = ("-o", tmp_path / "libasterope_memcpy.so")
    output_of("cc", f"-I{folder}", "-fPIC", "-shared", tmp_path / "gate.c", *library)
    output_of(sys.executable, "-c", BESIDE.format(function=function), cwd=tmp_path)
