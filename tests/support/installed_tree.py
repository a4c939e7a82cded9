"""An installed asterope, and how a stranger builds projects with it."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from asterope.spaces.x86_64 import set_pipelines
from asterope.spaces.x86_64.pipelines import Tuple
from copy_programs import REPOSITORY, WARNINGS, Memset, need, output_of, profile_json

EXAMPLES = REPOSITORY / "tests" / "examples"
OF_MEMSET = {"memset", "bzero"}
NAMES = {"memcpy", "memmove", "mempcpy", "__mempcpy", *OF_MEMSET}
CHECKED = {"__memcpy_chk", "__memmove_chk", "__mempcpy_chk", "__memset_chk"}

# For any CPU: wherever the tests run, the tuned copies are what is called.
INTERVALS = [
    (65536, Tuple("XMM", "T", "T", "none", 0, 0)),
    (1 << 20, Tuple("R64", "T", "T", "none", 0, 0)),
]
SETS = Memset(
    [(65536, set_pipelines.Tuple("XMM", "T")), (1 << 20, set_pipelines.Tuple("R64", "NT", 4))]
)
OTHERS = [(1 << 20, Tuple("XMM", "T", "NT", "T0", 4, 8))]

DATA = random.Random(7).randbytes(1_500_000)


def install(build: Path, prefix: Path) -> Path:
    """Installs all that was built, one at a time, as that writes into the build folder, too."""
    with open(build / "install.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        output_of("cmake", "--install", build, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="session")
def prefix(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where asterope is installed."""
    need("cmake")
    return install(build_dir, tmp_path_factory.mktemp("installed") / "prefix")


@pytest.fixture(scope="session")
def environment(prefix: Path) -> dict[str, str]:
    """That of somebody who has installed asterope there, with a Python that has its packages."""
    left_out = ("LD_PRELOAD", "PYTHONPATH", "CFLAGS", "CXXFLAGS", "LDFLAGS", "DESTDIR", "MAKEFLAGS")
    clean = {key: value for key, value in os.environ.items() if key not in left_out}
    paths = [str(prefix / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]]
    generator = {"CMAKE_GENERATOR": "Ninja"} if shutil.which("ninja") else {}
    return {
        **clean,
        **generator,
        "PATH": os.pathsep.join(paths),
        "CMAKE_PREFIX_PATH": str(prefix),
        "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"),
        "XDG_CONFIG_HOME": str(prefix / "nothing"),
        "CFLAGS": " ".join(("-O2", *WARNINGS)),
        "CXXFLAGS": " ".join(("-O2", *WARNINGS)),
    }


def copied(example: str, folder: Path, *profiles: str) -> Path:
    """An example in a folder of its own, with profiles of these names."""
    place = folder / "a project" / example
    shutil.copytree(EXAMPLES / example, place)
    for profile in profiles or ("profile.json",):
        (place / profile).write_text(profile_json(INTERVALS, memset=SETS), encoding="utf-8")
    return place


def cmake_build(place: Path, environment: dict[str, str], *options: object) -> Path:
    build = place / "build"
    output_of("cmake", "-S", place, "-B", build, *options, env=environment)
    output_of("cmake", "--build", build, env=environment)
    return build


def through(program: Path, *arguments: object) -> bytes:
    """What the program makes of DATA."""
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, input=DATA, capture_output=True, check=True, timeout=60).stdout
