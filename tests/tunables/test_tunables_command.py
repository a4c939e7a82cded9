"""The command asterope-tune tunables: its tables, its file, its exit codes and errors. Its
measurements depend on the machine, so no test says which setting is best, or that one is."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
from asterope.schemas import read_schema
from command_errors import assert_gone, interrupted, run_command

pytestmark = pytest.mark.one_cpu

# Small sizes need little memory: each process has buffers of its own.
QUICK = ("--rigor", "quick", "--sizes", "4K,16K", "--workload", "hot")


@pytest.fixture(scope="module")
def listed() -> dict[str, int]:
    """The thresholds of this libc, as its loader lists them; skips where it lists none."""
    loader = Path("/lib64/ld-linux-x86-64.so.2")
    if not loader.exists():
        pytest.skip("this libc is not glibc")
    done = run_command(loader, "--list-tunables")
    names = re.findall(r"^glibc\.cpu\.(x86_\w+_threshold): (0x\w+) ", done.stdout, re.MULTILINE)
    if not names:
        pytest.skip("this glibc lists no tunables")
    return {name: int(value, 16) for name, value in names}


@pytest.fixture(scope="module")
def whole(listed, build_dir: Path, tmp_path_factory: pytest.TempPathFactory):
    """How one run ended, and the file that it wrote."""
    folder = tmp_path_factory.mktemp("tunables")
    tool = build_dir / "asterope-tune"
    done = run_command(tool, "tunables", *QUICK, "-o", "found.json", cwd=folder)
    return done, json.loads((folder / "found.json").read_text())


def test_the_file_says_what_schema_and_loader_say(
    whole, listed: dict[str, int], repository: Path
) -> None:
    done, found = whole
    assert (done.returncode, done.stderr) == (0, "")
    schema = read_schema(repository / "scripts/asterope/tunables.schema.json", "x86_64")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(found, schema, cls=jsonschema.Draft202012Validator)
    assert found["default"]["rep_movsb_above"] == listed["x86_rep_movsb_threshold"]
    assert found["default"]["non_temporal_above"] == listed["x86_non_temporal_threshold"]
    assert f"x86_rep_movsb_threshold {listed['x86_rep_movsb_threshold']} (" in done.stdout


def test_all_ways_are_timed_and_the_line_is_printed_where_one_is_better(whole) -> None:
    done, found = whole
    assert [one["size"] for one in found["ways"]] == [4 << 10, 16 << 10]
    for one in found["ways"]:
        assert {one["default"], *one["ways"]} >= {"vector", "rep_movsb"}
        assert one["default"] not in one["ways"]

    assert found["change"] == bool(found["line"])
    assert (f"\n{found['line']}\n" if found["change"] else "\nKeep the default: ") in done.stdout


@pytest.mark.slow
def test_quiet_prints_the_line_alone_with_what_is_set(listed, tune, tmp_path: Path) -> None:
    others = "glibc.malloc.perturb=0"
    set_already = f"{others}:glibc.cpu.x86_rep_movsb_threshold=3000"
    environment = {**os.environ, "GLIBC_TUNABLES": set_already}
    done = tune("tunables", *QUICK, "--quiet", "-o", "found.json", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(rf"(GLIBC_TUNABLES={others}:glibc\.cpu\.x86_\S+\n)?", done.stdout)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["default"]["rep_movsb_above"] == 3000


def test_an_interrupt_ends_it_and_its_processes(listed, build_dir: Path, tmp_path: Path) -> None:
    options = ("--rigor", "exhaustive", "--sizes", "4K,64K", "-o", "found.json")
    command = [build_dir / "asterope-tune", "tunables", *options]
    children: list[str] = []

    def ready(process: subprocess.Popen) -> bool:
        """The processes that it times in are there."""
        listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        children[:] = listed.read_text().split()
        return len(children) >= 3

    done = interrupted(command, ready, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "asterope-tune: interrupted\n")
    assert list(tmp_path.iterdir()) == []
    assert_gone(children)
