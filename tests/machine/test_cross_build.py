"""The tools on AArch64: built by Debian's cross compiler, run in qemu's user mode.

Copies are right there, and the machine is read; speeds mean nothing. The build stays in the build
folder.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from aarch64_root import NoRootError, aarch64_root
from asterope.record.raw import read_folder
from copy_programs import need

pytestmark = pytest.mark.slow

TOOLCHAIN = "scripts/packaging/cmake/aarch64-linux-gnu.cmake"
COMPILER = "aarch64-linux-gnu-gcc"
TARGETS = ("asterope-tune", "asterope-bench", "asterope_record", "test_machine", "candidates_check")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def built(build_dir: Path, repository: Path) -> Path:
    need("cmake", "ninja", COMPILER, "aarch64-linux-gnu-g++", "qemu-aarch64")
    folder = build_dir / "aarch64"
    try:
        root = aarch64_root(folder / "libraries")
    except NoRootError as reason:
        pytest.skip(f"no libraries of AArch64: {reason}")
    configure = ["cmake", "-S", repository, "-B", folder, "-G", "Ninja", "--toolchain", TOOLCHAIN,
                 f"-DASTEROPE_AARCH64_ROOT={root}", "-DASTEROPE_BUILD_TESTS=ON"]  # fmt: skip
    for command in (configure, ["cmake", "--build", folder, "--target", *TARGETS]):
        done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder


@pytest.fixture
def emulated(built: Path, tmp_path: Path) -> Run:
    def run(program: str, *arguments: object, options: Sequence[str] = ()):
        command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", *options, built / program]
        return subprocess.run(
            [*command, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=1200,
            env={**os.environ, "CC": COMPILER},
        )

    return run


def test_the_version_says_that_nothing_was_measured_there(emulated: Run) -> None:
    for program in ("asterope-tune", "asterope-bench"):
        assert "measured no speed" in emulated(program, "--version").stdout.splitlines()[1]


@pytest.mark.parametrize("cpu", ["cortex-a72", "neoverse-n1", "a64fx", "max"])
def test_the_machine_is_read(emulated: Run, cpu: str) -> None:
    done = emulated("tests/test_machine", options=("-cpu", cpu))
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("share", range(3))
def test_a_sample_of_the_candidates_copies_right(emulated: Run, share: int) -> None:
    done = emulated("tests/candidates_check", "--step", 31, "--share", f"{7 + share}/300")
    assert done.returncode == 0, done.stdout[-4000:]
    assert done.stdout.count("ok ") >= 2


def test_tunables_are_refused_in_a_line(emulated: Run) -> None:
    done = emulated("asterope-tune", "tunables")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "no tunables to choose" in done.stderr


def test_a_search_makes_a_profile_that_fits(emulated: Run, tmp_path: Path) -> None:
    done = emulated("asterope-tune", "--rigor", "quick", "--sizes", "1K,4K", "--time-budget", "3m",
                    "-o", "profile.json", options=("-cpu", "neoverse-n1"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    profile = json.loads((tmp_path / "profile.json").read_text(encoding="utf-8"))
    assert profile["architecture"] == "aarch64"
    assert profile["machine"]["cpu"]["brand"].startswith("Neoverse-N1 r")
    assert "steps of" in profile["search"]["no_sensing"]  # qemu's counter moves once in 1 us
    assert profile["search"]["no_sensing"] in done.stdout
    check = emulated("asterope-tune", "check", "profile.json", options=("-cpu", "neoverse-n1"))
    assert check.returncode == 0 and "fits this machine" in check.stdout
    check = emulated("asterope-tune", "check", "profile.json", options=("-cpu", "cortex-a72"))
    assert check.returncode == 3 and "cpu.model" in check.stdout


def test_a_recording_counts_copies(built: Path, emulated: Run, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "#include <string.h>\n"
        "int main(void) {\n"
        "    static char a[5000], b[5000];\n"
        "    void *(*volatile copy)(void *, const void *, size_t) = memcpy;\n"
        "    for (int i = 0; i < 1000; ++i) copy(a, b, 5000);\n"
        "    return a[0];\n"
        "}\n",
        encoding="ascii",
    )
    subprocess.run([COMPILER, "-O1", source, "-o", tmp_path / "program"], check=True)
    raw = tmp_path / "raw"
    raw.mkdir()
    subprocess.run(
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu",
         "-E", f"LD_PRELOAD={built / 'libasterope_record.so'}", "-E", f"ASTEROPE_RECORD={raw}",
         tmp_path / "program"],
        check=True,
        timeout=60,
    )  # fmt: skip
    [process], _ = read_folder(raw)
    assert sum(process.counts["memcpy"].values()) >= 1000
