"""The experiment with a Ceph client works, and leaves nothing behind. Its speed is not tested."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from command_errors import finished, only_error_of, python_settings
from copy_programs import need, need_way, run, shared_library

only_error = partial(only_error_of, "cached_reads.py")


@pytest.fixture
def experiment(repository: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs the script in an empty folder."""
    script = repository / "scripts/experiments/ceph/cached_reads.py"
    return lambda *given, **environment: finished(
        python_settings(tmp_path, script, *given, **environment), timeout=600
    )


@pytest.mark.slow
def test_a_cached_file_is_read_under_each_copy(experiment, monkeypatch, tmp_path):
    with monkeypatch.context() as with_daemons:
        with_daemons.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin:/sbin")
        need("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph", "monmaptool", "pgrep")
    need_way(tmp_path, "cc", "-D_FILE_OFFSET_BITS=64", "-include", "cephfs/libcephfs.h", "-lcephfs")
    library = shared_library(tmp_path / "like.so", "int unused;\n")
    asked = ("--mib", 16, "--sizes", "64K,4M", "--prefetch-nt", "--json", "json")
    done = experiment(*asked, "--", "--rounds", "6", "--copies", library)
    assert (done.returncode in (0, 3, 4), done.stderr) == (True, ""), done
    assert done.stdout.count("6 rounds of 4 copies") == 4
    *_, head, first, second, third, fourth = done.stdout.splitlines()
    assert head.split() == ["a", "call", "alone", "copied", "libc", "copies"]
    figures = r" +\d+\.\d +\d+\.\d +\d+\.\d   "
    ratio = r" \d+\.\d\d \(\d+\.\d\d\.\.\d+\.\d\d\)"
    copies = rf"like{ratio}, prefetch_nt{ratio}; floor \(\d+\.\d\d\.\.\d+\.\d\d\)"
    for row, begin in ((first, "64 KiB    read"), (second, "64 KiB    used")):
        assert re.fullmatch(begin + figures + copies, row)
    assert (third[:15], fourth[:15]) == ("4 MiB     read ", "4 MiB     used ")
    names = {f"{use}-{size}.json" for use in ("read", "used") for size in (65536, 4194304)}
    assert {file.name for file in (tmp_path / "json").iterdir()} == names
    assert run("pgrep", "-af", f"{tmp_path}/tmp/").stdout == ""  # no daemon is left


@pytest.fixture
def script(repository: Path, monkeypatch):
    """The script as a module."""
    monkeypatch.syspath_prepend(repository / "scripts/experiments/ceph")
    return importlib.import_module("cached_reads")


def test_all_sizes_are_read_where_one_copy_cannot_be_told_or_has_no_round(
    script, monkeypatch, tmp_path, capsys
):
    ratio = {"median": 1.02, "low": 0.9, "high": 1.1}
    copies = [{"name": name, "figure": 3.0, "ratio": ratio} for name in ("libc", "again", "like")]
    told = {"rounds": 6, "noise_floor": ratio, "copies": copies}
    ends = iter([(4, told), (4, {"rounds": 0, "noise_floor": None}), (3, told), (0, told)])

    def prove(words: list[str]) -> int:
        code, written = next(ends)
        Path(words[words.index("--json") + 1]).write_text(json.dumps(written))
        return code

    monkeypatch.setattr(script.prove, "main", prove)
    limits = "alone 9.0 GB/s\ncopied 5.0 GB/s\ncopied and used 4.0 GB/s\n"
    monkeypatch.setattr(script, "_output_of", lambda *_: limits)
    asked = argparse.Namespace(
        mib=16, sizes=[65536, 131072], prefetch_nt=False, json=None, options=[]
    )
    cluster = argparse.Namespace(configuration="ceph.conf")
    assert script._prove(asked, Path("reader"), cluster, tmp_path) == 4
    rows = capsys.readouterr().out.splitlines()[-3:]
    assert [row.split()[:3] for row in rows] == [
        ["64", "KiB", "read"],
        ["128", "KiB", "read"],
        ["128", "KiB", "used"],
    ]


@pytest.mark.parametrize("given", [["--copies", "a.so,b=c.so"], ["--copies=a.so,b=c.so"]])
def test_a_copy_more_stands_beside_those_that_are_asked_for(script, given):
    one = Path("/tmp/prefetch_nt.so")
    asked = script._copies(["--rounds", "6", *given], [one])
    assert asked == ["--copies=a.so,b=c.so,prefetch_nt=/tmp/prefetch_nt.so", "--rounds", "6"]
    assert script._copies(given, []) == given
    assert script._copies([], [one])[0].endswith(",prefetch_nt=/tmp/prefetch_nt.so")


def test_a_missing_program_is_named(experiment, tmp_path):
    """Daemons are looked for in /usr/sbin, too, but no machine has cc there."""
    message = only_error(experiment(PATH=tmp_path), 1)
    assert " is not installed: apt-get install " in message


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--mib", "7"], "not a multiple of 4"),
        (["--sizes", "100"], "not a power of two"),
        (["--sizes", "8M"], "not a power of two"),
        (["--rounds", "6"], "--rounds"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(experiment, arguments, part):
    assert part in only_error(experiment(*arguments), 2)
