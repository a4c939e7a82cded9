"""From a program's recording to small copies of its sizes: asterope-tune --recording."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from asterope.profile import load_profile
from command_errors import run_command

pytestmark = pytest.mark.one_cpu

RUN = ("--rigor", "quick", "--operations", "memcpy", "--sizes", "512", "--space", "paper")

# Small copies of three sizes in one order, and large ones from memory into one buffer.
PROGRAM = """
#include <stdlib.h>
#include <string.h>
int main(void)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    const size_t piece = 65536, pieces = 512;
    char *from = malloc(pieces * piece), *to = malloc(piece), small[256];
    memset(from, 1, pieces * piece);
    for (int round = 0; round < 40; ++round)
        for (size_t i = 0; i < pieces; ++i) {
            copy(to, from + i * piece, piece);
            for (int k = 0; k < 30; ++k) copy(small + 7, from + k, (size_t)(k % 3) * 40 + 1);
        }
    return to[5] + small[7] != 2;
}
"""


def test_its_small_copies_are_drawn_and_all_else_is_balanced(
    build_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "copies.c").write_text(PROGRAM)
    compile_it = ["cc", "-O1", "-fno-builtin", "copies.c", "-o", "copies"]
    subprocess.run(compile_it, cwd=tmp_path, check=True, timeout=60)
    record = (build_dir / "asterope-record", "-o", "r.json", "--", "./copies")
    tune = (build_dir / "asterope-tune", *RUN, "--recording", "r.json", "-o", "p.json")
    for command in (record, tune):
        done = run_command(*command, cwd=tmp_path)
        assert done.returncode == 0, done
    search = load_profile(tmp_path / "p.json").raw["search"]
    assert (search["workload"], search["distribution"]) == ("balanced", "copies")
    sizes = dict(json.loads((tmp_path / "r.json").read_text())["sizes"])
    assert all(sizes[size] >= 40 * 512 * 10 for size in (1, 41, 81))
