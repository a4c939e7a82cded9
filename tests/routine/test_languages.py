"""The examples in other languages: each README's commands work, and misuse is refused.

Every example is copied to a fresh folder, as a stranger would, and built there by its README alone.
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import shutil
import sys
from pathlib import Path

import pytest
from command_errors import only_error_of
from copy_programs import need, output_of, run

pytestmark = pytest.mark.slow

REGISTRY = Path("/usr/share/cargo/registry")  # Debian's: the crates of its packages
CROP = {"cpp": "crop", "go": "crop", "rust": "target/release/crop"}
WIDTH, HEIGHT = 1000, 40  # rows of 3000 bytes, which take other paths than those cut out of them


def image(width: int, height: int, brightest: int = 255, seed: int = 1) -> bytes:
    """A PPM image full of noise."""
    size = width * height * (3 if brightest < 256 else 6)
    pixels = random.Random(seed).randbytes(size)
    return b"P6\n# noise\n%d %d\n%d\n" % (width, height, brightest) + pixels


def part_of(picture: bytes, width: int, height: int, x: int, y: int) -> bytes:
    """What cropping must give, for an image that `image` has made."""
    magic, _, size, brightest, pixels = picture.split(b"\n", 4)
    columns, rows = map(int, size.split())
    pixel = len(pixels) // rows // columns
    starts = [((y + row) * columns + x) * pixel for row in range(height)]
    cut = b"".join(pixels[start : start + width * pixel] for start in starts)
    return b"%s\n%d %d\n%s\n%s" % (magic, width, height, brightest, cut)


def readme_commands(example: Path) -> str:
    """The commands that the example's README tells to type."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (example / "README.md").read_text(), re.M | re.S)
    assert blocks
    return "".join(blocks)


def environment(language: str, build_dir: Path, folder: Path) -> dict[str, str]:
    """The caller's, with asterope-generate on the PATH but no network; skips what is missing."""
    variables = {**os.environ, "PATH": f"{build_dir}{os.pathsep}{os.environ['PATH']}"}
    if language == "cpp":
        need("make", "g++", "gcc")
        variables |= {"CC": "gcc", "CXX": "g++"}
    elif language == "rust":
        need("cargo", "cc")
        if not any(REGISTRY.glob("cc-*")):
            pytest.skip(f"no cc crate in {REGISTRY}: librust-cc-dev is not installed")
        home = folder / "cargo-home"
        home.mkdir()
        (home / "config.toml").write_text(
            '[source.crates-io]\nreplace-with = "installed"\n'
            f'[source.installed]\ndirectory = "{REGISTRY}"\n'
        )
        variables |= {"CARGO_HOME": str(home), "CARGO_NET_OFFLINE": "true"}
        variables.pop("CARGO_TARGET_DIR", None)
    elif language == "go":
        need("go", "gcc")
        # What others leave in the folder for temporary files must not get into the program.
        temporary = folder / "tmp"
        temporary.mkdir()
        (temporary / "asterope_memcpy.h").write_text("#error the wrong header\n")
        variables |= {"TMPDIR": str(temporary), "CGO_ENABLED": "1"}
        variables |= {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    elif language == "python":
        need("cc")
        if importlib.util.find_spec("numpy") is None:
            pytest.skip(f"numpy is not installed for {sys.executable}")
        # README's python3 is the one that runs the tests, and has numpy.
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        python = bin_folder / "python3"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        variables["PATH"] = f"{bin_folder}{os.pathsep}{variables['PATH']}"
    return variables


@pytest.fixture(scope="session")
def built(repository: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    """Gives a language's example, built in a folder of its own by the commands of its README."""
    folders: dict[str, Path] = {}

    def build(language: str) -> Path:
        if language not in folders:
            variables = environment(language, build_dir, tmp_path_factory.mktemp("environment"))
            folder = tmp_path_factory.mktemp("examples") / language
            shutil.copytree(
                repository / "tests" / "examples" / language,
                folder,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
            profile = repository / "generated" / "reference" / "xeon-gold-5218.json"
            shutil.copy(profile, folder / "profile.json")
            (folder / "in.ppm").write_bytes(image(WIDTH, HEIGHT))
            output_of("bash", "-exc", readme_commands(folder), cwd=folder, env=variables)
            folders[language] = folder
        return folders[language]

    return build


@pytest.mark.parametrize("language", CROP)
def test_the_readme_builds_a_program_that_crops(built, language: str) -> None:
    folder = built(language)
    numbers = re.search(r"in\.ppm (\d+)x(\d+)\+(\d+)\+(\d+) out", readme_commands(folder)).groups()
    expected = part_of(image(WIDTH, HEIGHT), *map(int, numbers))
    assert (folder / "out.ppm").read_bytes() == expected


# Sizes of an image, its brightest value, and what is cut out of it.
RECTANGLES = [
    ((1, 1), 255, (1, 1, 0, 0)),
    ((70, 9), 1, (70, 9, 0, 0)),
    ((70, 9), 255, (1, 9, 69, 0)),
    ((70, 9), 65535, (33, 2, 5, 7)),
    ((70000, 3), 256, (69999, 2, 1, 1)),
]


@pytest.mark.parametrize("language", CROP)
def test_any_rectangle_is_cut_out(built, language: str, tmp_path: Path) -> None:
    for size, brightest, rectangle in RECTANGLES:
        whole = image(*size, brightest)
        (tmp_path / "in.ppm").write_bytes(whole)
        words = ("in.ppm", "{}x{}+{}+{}".format(*rectangle), "out.ppm")
        assert output_of(built(language) / CROP[language], *words, cwd=tmp_path) == ""
        assert (tmp_path / "out.ppm").read_bytes() == part_of(whole, *rectangle)


# Copies so that it can be seen in the result.
INVERTING = """
#include "asterope_memcpy.h"

void *asterope_memcpy(void *__restrict to, const void *__restrict from, size_t bytes)
{
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


@pytest.mark.parametrize("language", CROP)
def test_another_routine_is_noticed_and_copies_every_pixel(
    built, build_dir: Path, language: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(built(language), tmp_path / language)
    (folder / ROUTINE[language] / "asterope_memcpy.c").write_text(INVERTING)
    build = re.search(r"^(make|cargo build.*|go build)$", readme_commands(folder), re.M)[0]
    output_of(*build.split(), cwd=folder, env=environment(language, build_dir, tmp_path))
    output_of(folder / CROP[language], "in.ppm", "9x8+7+6", "out.ppm", cwd=folder)
    *_, pixels = (folder / "out.ppm").read_bytes().split(b"\n", 3)
    expected = part_of(image(WIDTH, HEIGHT), 9, 8, 7, 6).split(b"\n", 3)[3]
    assert pixels == bytes(255 - byte for byte in expected)


# What the crop of each language refuses: the image, the rectangle, and what is said.
SMALL = image(70, 9)
REFUSED = [
    *((SMALL, text, f"{text}: not WIDTHxHEIGHT+X+Y") for text in ("", "10x10+0", "1x-1+0+0")),
    *((SMALL, text, f"in.ppm: no {text} inside its 70x9") for text in ("0x1+0+0", "70x1+1+0")),
    *(
        (content, "1x1+0+0", "no binary PPM image (P6)")
        for content in (b"P5\n1 1\n255\n...", b"P6")
    ),
    (SMALL[:-1], "1x1+0+0", "cut short: 1889 of 1890 bytes of pixels"),
]


@pytest.mark.parametrize("language", CROP)
def test_misuse_is_refused_in_one_line(built, language: str, tmp_path: Path) -> None:
    program = built(language) / CROP[language]
    for content, rectangle, said in REFUSED:
        (tmp_path / "in.ppm").write_bytes(content)
        done = run(program, "in.ppm", rectangle, "out.ppm", cwd=tmp_path)
        assert said in only_error_of("crop", done, 2)
        assert not (tmp_path / "out.ppm").exists()
    assert "needs three arguments" in only_error_of("crop", run(program, "in.ppm"), 2)
    done = run(program, "none.ppm", "1x1+0+0", "out.ppm", cwd=tmp_path)
    assert "none.ppm: cannot read: " in only_error_of("crop", done, 2)
    (tmp_path / "in.ppm").write_bytes(SMALL)
    done = run(program, "in.ppm", "70x9+0+0", "/dev/full", cwd=tmp_path)
    assert "cannot write: " in only_error_of("crop", done, 1)


# --- Python ---------------------------------------------------------------------------------------


def test_the_readme_stacks_images_in_python(built) -> None:
    folder = built("python")
    stack = pytest.importorskip("numpy").load(folder / "stack.npy")
    pixels = image(WIDTH, HEIGHT).split(b"\n", 4)[4]
    assert (stack.shape, stack.dtype) == ((2, HEIGHT, WIDTH, 3), "uint8")
    assert stack.tobytes() == 2 * pixels


def test_images_of_16_bits_are_stacked_in_their_order(built, tmp_path: Path) -> None:
    folder = built("python")
    np = pytest.importorskip("numpy")
    images = [image(300, 200, 1000, seed) for seed in range(5)]
    paths = [tmp_path / f"{number}.ppm" for number in range(len(images))]
    for path, content in zip(paths, images):
        path.write_bytes(content)
    output_of(sys.executable, folder / "stack.py", tmp_path / "stack.npy", *paths)
    stack = np.load(tmp_path / "stack.npy")
    assert stack.dtype == np.dtype(">u2")
    assert stack.tobytes() == b"".join(content.split(b"\n", 4)[4] for content in images)


def test_what_cannot_be_stacked_is_refused_in_one_line(built, tmp_path: Path) -> None:
    for name, of in {"a": (4, 2), "b": (2, 4), "c": (4, 2, 999)}.items():
        (tmp_path / name).write_bytes(image(*of))
    (tmp_path / "d").write_bytes(b"P5")
    for target, names, words, code in (
        ("out", ("a", "a", "b"), "b: 2x4 of 8 bits, where a is 4x2 of 8 bits", 2),
        ("out", ("a", "a", "c"), "c: 4x2 of 16 bits, where a is 4x2 of 8 bits", 2),
        ("out", ("d",), "d: no binary PPM image (P6)", 2),
        ("out", (), "needs arguments", 2),
        ("/dev/full", ("a",), "cannot write: ", 1),
    ):
        done = run(sys.executable, built("python") / "stack.py", target, *names, cwd=tmp_path)
        assert words in only_error_of("stack", done, code)
    assert not (tmp_path / "out").exists()


# A copy that says when it is called, and then waits until it is told to go on. Where it is never
# told, as the caller holds the lock, the alarm ends the process.
GATE = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *asterope_memcpy(void *to, const void *from, size_t bytes)
{
    char byte = 0;
    alarm(20);
    if (write(atoi(getenv("ARRIVED")), &byte, 1) != 1 || read(atoi(getenv("GATE")), &byte, 1) != 1)
        abort();
    return memcpy(to, from, bytes);
}

void *asterope_memmove(void *to, const void *from, size_t bytes)
{
    return asterope_memcpy(to, from, bytes);
}
"""
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
assert (to == source).all()
"""


@pytest.mark.parametrize("function", ["copy", "move"])
def test_python_goes_on_while_it_copies(built, tmp_path: Path, function: str) -> None:
    shutil.copy(built("python") / "tuned_copy.py", tmp_path)
    (tmp_path / "gate.c").write_text(GATE)
    library = tmp_path / "libasterope_memcpy.so"
    output_of("cc", "-fPIC", "-shared", tmp_path / "gate.c", "-o", library)
    output_of(sys.executable, "-c", BESIDE.format(function=function), cwd=tmp_path)


# --- What is missing ------------------------------------------------------------------------------


def test_a_build_without_the_routine_says_what_to_do(
    repository: Path, build_dir: Path, tmp_path: Path
) -> None:
    example = tmp_path / "cpp"
    shutil.copytree(repository / "tests" / "examples" / "cpp", example)
    variables = environment("cpp", build_dir, tmp_path)
    done = run("make", cwd=example, env=variables)
    assert done.returncode != 0
    assert "is missing: asterope-generate profile.json -o ." in done.stderr
