"""The command asterope-generate: its exit codes, its one-line errors, and whole files or none."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope import atomic_file, generate
from generate_command import NAMES, assert_old, old_files, only_line
from generate_command import command as run
from profile_samples import (
    DOUBT,
    HOSTILE,
    good_profile,
    incomplete_profile,
    merged_profile,
    provisional_profile,
    without,
)

SCRIPTS = Path(generate.__file__).parents[1]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(good_profile()), encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return old_files(tmp_path / "out")


def texts(folder: Path) -> list[str]:
    return [(folder / name).read_text(encoding="ascii") for name in NAMES]


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


@pytest.fixture
def rendered(tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """Source and header of a profile, of the good one with changes."""

    def render(raw: dict | None = None, **changes: object) -> tuple[str, str]:
        raw = {**(good_profile() if raw is None else raw), **changes}
        raw = {field: value for field, value in raw.items() if value is not None}
        path = tmp_path / "rendered.json"
        path.write_text(json.dumps(raw), encoding="utf-8")
        assert run(path, "-o", tmp_path / "rendered") == 0
        return tuple(texts(tmp_path / "rendered"))

    return render


# --- Done -----------------------------------------------------------------------------------------


def test_it_writes_both_files_and_says_so_in_one_line(profile, out, capsys):
    assert run(profile, "-o", out) == 0
    assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    assert all("asterope_memcpy" in text for text in texts(out))
    held = "6 intervals, 2 of memset"
    said = f"wrote {out / NAMES[0]} and {out / NAMES[1]} ({held})\n"
    assert capsys.readouterr() == (said, "")


def test_a_profile_without_memset_is_rendered_without_and_it_is_said(tmp_path, out, capsys):
    raw = without(good_profile(), "pipelines", "small", operation="memset")
    (tmp_path / "older.json").write_text(json.dumps(raw), encoding="utf-8")
    assert run(tmp_path / "older.json", "-o", out) == 0
    assert "(6 intervals, no memset: the profile has none)" in capsys.readouterr().out
    assert all("memset(" not in text and "HAS_MEMSET" not in text for text in texts(out))


def test_it_writes_the_same_bytes_wherever_it_is_told_to(profile, tmp_path, monkeypatch):
    """Into the current folder, or one that is made with its parents; also in a process of its own,
    whose hashes of strings differ."""
    monkeypatch.chdir(tmp_path)
    assert run(profile) == 0
    assert run(profile, "-o", tmp_path / "a" / "b") == 0
    done = start(profile, "-o", "hashed", env={"PYTHONHASHSEED": "2"})
    assert (done.wait(), done.stderr.read()) == (0, "")
    assert texts(tmp_path / "a/b") == texts(tmp_path / "hashed") == texts(tmp_path)


def test_the_files_have_the_mode_of_any_new_file(profile, tmp_path):
    before = os.umask(0o027)
    try:
        assert run(profile, "-o", tmp_path) == 0
    finally:
        os.umask(before)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in NAMES} == {0o640}


def test_the_prefix_names_files_and_functions(profile, tmp_path):
    assert run(profile, "-o", tmp_path, "--prefix", "My_Copy2") == 0
    source, header = ((tmp_path / f"My_Copy2_memcpy.{kind}").read_text("ascii") for kind in "ch")
    assert "My_Copy2_memcpy(" in header
    assert '#include "My_Copy2_memcpy.h"' in source
    assert "asterope_" not in without_comments(header + source)


DESCRIPTION = re.compile(r'asterope_tuned_for\[\][^;"]*"([^"\\\n]*)";')


def test_text_from_the_profile_reaches_comments_and_the_description_only(rendered):
    name, text = "Z0 ()@.,:_+/-//", "Z0 !#$%&'()+,./:;<=>@[]^_|~- %s %n //"
    raw = good_profile()
    raw["machine"]["cpu"]["brand"] = raw["machine"]["libc"] = name
    raw["search"]["distribution"] = name
    raw["source"], raw["search"]["warnings"] = text, [text]
    odd = rendered(raw)
    assert text in odd[0]
    described = DESCRIPTION.search(odd[0])[1]
    assert described.endswith(f", tuned for {name}, balanced, {raw['search']['finished']}")
    plain = rendered()
    odd = (odd[0].replace(described, DESCRIPTION.search(plain[0])[1]), odd[1])
    assert list(map(without_comments, plain)) == list(map(without_comments, odd))


TITLES = " * Up to      RT        LT ST PT   PS PD TB PI PW D "
HEADING = f"{TITLES}    x libc    GB/s\n"
IN_WORDS = " * YMM, temporal loads, non-temporal stores, prefetch T0 of 4 lines, 8 lines ahead:\n"
ROW = " * 512 B      YMM       T  NT T0    4  8  2  1  0 up      1.31"
SMALL = "bytes, whatever the rows above say: small copies"
OVERLAP = " * Buffers that overlap, above that"
# What the head comment says: of which fields less, and what.
HEAD = {
    "small copies": ([], f" * Up to 256 {SMALL}, masked, ZMM, tests up, 1.21 x libc.\n"),
    "the plain small copy": (["small"], f" * Up to 128 {SMALL}, stepped, XMM, tests middle.\n"),
    "overlaps": ([], f"{OVERLAP}: YMM, 128 bytes a turn, 1.10 x libc.\n"),
    "the plain move": (["overlapping"], f"{OVERLAP}: XMM, 128 bytes a turn.\n"),
    "a row": (
        [],
        f"{HEADING}{IN_WORDS}{ROW}    64.0\n",
    ),
    "both pipelines of a sensing copy, and its probe": (
        [],
        " * 20000 B    ZMM       T  T  T0   16  8 16  1  0 up      1.10    12.5\n"
        " * 1 MiB      sensing source 4 > 300                      1.41    14.5\n"
        " * YMM, temporal loads and stores, no prefetch, prefetchw 8 lines ahead:\n"
        " *   cached   YMM       T  T  none  0  0  2  1  8 up              14.5\n"
        f"{IN_WORDS.replace('YMM', 'XMM').replace(':', ', 4 pages interleaved:')}"
        " *   uncached XMM       T  NT T0    4  8  2  4  0 up              14.5\n"
        " * ZMM, temporal loads and stores, prefetch T0 of 16 lines, 8 lines ahead, "
        "blocks of 16 lines:\n"
        " * no counter ZMM       T  T  T0   16  8 16  1  0 up      1.10    12.5\n *\n",
    ),
    **{
        f"the table of {name}": (
            [],
            f" * asterope_memcpy_{name}, its figures those of the workload {name} alone:\n{HEADING}"
            f"{IN_WORDS}{ROW}    64.0\n",
        )
        for name in ("hot", "cold")
    },
    "the table of consume, without figures": (
        [],
        " * asterope_memcpy_consume:\n"
        f"{TITLES.rstrip()}\n"
        " * YMM, temporal loads and stores, no prefetch, prefetchw 8 lines ahead:\n"
        " * 4 KiB      YMM       T  T  none  0  0  2  1  8 up\n *\n",
    ),
    "a mapped source": (
        [],
        "memory mapped from /sys/bus/pci/devices/0000:01:00.0/resource1_wc, not",
    ),
}


@pytest.mark.parametrize(("lacks", "said"), HEAD.values(), ids=HEAD)
def test_the_head_comment_says(rendered, lacks, said):
    assert said in rendered(without(good_profile(), *lacks))[0]


def test_sizes_that_take_the_same_share_a_row_with_the_means_of_their_figures(rendered):
    raw = good_profile()
    figures = zip(raw["choices"], (9, 1.0, 1.44), (9, 128, 32))  # up to 128, 256, 512
    for one, ratio, gb_per_s in figures:
        one["evidence"].update(ratio=ratio, gb_per_s=gb_per_s)
    row = " * 512 B      YMM       T  NT T0    4  8  2  1  0 up      1.20   128.0\n"
    # the small copy does 128 bytes
    assert HEADING + IN_WORDS + row in rendered(without(raw, "small"))[0]


def test_a_row_with_a_size_that_was_not_measured_has_no_figures(rendered):
    raw = good_profile()
    del raw["choices"][1]["evidence"]["ratio"]
    row = " * 512 B      YMM       T  NT T0    4  8  2  1  0 up              64.0\n"
    assert HEADING + IN_WORDS + row in rendered(without(raw, "small"))[0]
    del raw["choices"][1]["evidence"]["gb_per_s"]
    row = " * 512 B      YMM       T  NT T0    4  8  2  1  0 up\n"
    assert HEADING + IN_WORDS + row in rendered(without(raw, "small"))[0]


STEPS = [
    *("boundaries", "small copies", "overlapping buffers", "aliasing buffers", "sensing", "threads")
]
AGAIN = ": run asterope-tune again with more time"
INCOMPLETE = [
    (
        {"sizes": [8192, 2097152], "steps": STEPS},
        f"the search left out the sizes 8 KiB, 2 MiB; {'; '.join(STEPS)}",
    ),
    ({"sizes": [4096]}, "the search left out the size 4 KiB"),
    ({"steps": ["sensing"]}, "the search left out sensing"),
    # Coarse to fine, as they would have been searched; told from the smallest to the largest.
    (
        {"sizes": [2048, 8388608, 300, 4096, 8192]},
        "the search left out 5 sizes from 300 B to 8 MiB",
    ),
    (None, "what the search left out is not known"),
]
QUIETER = "tune again in a quieter hour, or on another CPU (--cpu N)"
MERGED = merged_profile()
OF_MEMSET = {"memset": {"sizes": [8192], "steps": ["rows"]}}
LACKING = {**MERGED, "complete": False, "left_out": {"memcpy": {"sizes": [8192], "steps": []}}}
# A profile, the warning, and the line of the head comment.
WARNED = [
    (good_profile(), None, None),
    *(
        (
            {**incomplete_profile(), "left_out": left and {"memcpy": left}},
            f"incomplete: {said}{AGAIN}",
            f"Incomplete: {said}",
        )
        for left, said in INCOMPLETE
    ),
    (
        {**incomplete_profile(), "left_out": {"memcpy": {"steps": ["sensing"]}, **OF_MEMSET}},
        f"incomplete: the search left out sensing; in memset the size 8 KiB; rows{AGAIN}",
        None,
    ),
    (
        {**MERGED, "complete": False, "left_out": OF_MEMSET},
        "incomplete: the search left out in memset the size 8 KiB; rows: ",
        None,
    ),
    (
        provisional_profile(),
        f"{DOUBT}: these winners are provisional; run again in a quieter hour, or on another CPU "
        "(--cpu N)",
        f"Provisional: {DOUBT}; {QUIETER}",
    ),
    (MERGED, None, None),
    (
        LACKING,
        "incomplete: the search left out the size 8 KiB: merge the trial logs of these searches",
        None,
    ),
]


@pytest.mark.parametrize(("raw", "warning", "line"), WARNED)
def test_what_a_profile_lacks_is_warned_of_and_noted_in_its_head(
    rendered, tmp_path, capsys, raw, warning, line
):
    source, _ = rendered(raw)
    stdout, stderr = capsys.readouterr()
    assert stdout.startswith("wrote ")
    start = f"asterope-generate: warning: {tmp_path / 'rendered.json'}: "
    assert stderr.startswith(f"{start}{warning}") if warning else stderr == ""
    assert stderr.count("\n") == bool(warning)
    head = source[: source.index("*/")].splitlines()
    doubts = [text for text in head if re.match(r" \* (Incomplete|Provisional): ", text)]
    assert line is None or doubts == [f" * {line}"]
    if raw.get("left_out") and line:  # the routine of the same winners all the same
        complete, _ = rendered(raw, complete=True, left_out=None)
        assert source.replace(f" * {line}\n", "") == complete


def test_without_extensions_sensing_or_intents_nothing_speaks_of_them(rendered):
    for text in rendered(choices=good_profile()["choices"][:4], search=None):
        assert not re.search(r"sens|TB PI|memcpy_(hot|cold|consume)|prctl|rdtsc|mapped", text)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"workload": "cold"}, "cold"),
        ({"weights": {"memcpy": {"hot": 1, "cold": 0, "consume": 2.5}}}, None),
    ],
)
def test_what_was_tuned_for_is_named(rendered, weights, words):
    source, _ = rendered(search={"workload": "weights", **weights})
    words = words or "hot 1, consume 2.5"
    assert f" * Workload: {words}, unknown search of the unknown space, unknown\n" in source
    assert DESCRIPTION.search(source)[1].endswith(f", {words}, unknown")


@pytest.mark.parametrize("names", [["hot", "cold", "consume"], ["consume"], []])
def test_the_header_declares_the_intents_of_the_profile_only(rendered, names):
    choices = good_profile()["choices"]
    _, header = rendered(choices=[c for c in choices if c.get("intent") in (None, *names)])
    assert re.findall(r"memcpy_(\w+)\(", header) == [*names, "mt"]
    assert header.count("Where it is not so, ") == len(names)


@pytest.mark.parametrize(("bound", "left"), [(128, "468"), (256, "68"), (512, "8")])
def test_what_the_small_copy_does_needs_no_pipeline(rendered, bound, left):
    raw = good_profile()
    raw["choices"] = [*raw["choices"][:4], raw["choices"][6]]
    raw["choices"][-1]["copies"]["taken"]["bound"] = raw["choices"][-1]["up_to"] = bound
    for one, pd in zip(raw["choices"], (2, 4, 6, 8)):  # up to 128, 256, 512, 1024
        one["copies"]["taken"]["pd"] = pd
    source = without_comments(rendered(raw)[0])
    assert set(re.findall(r"asterope_copy_\w+?(\d+)(?=\(void\))", source)) == set(left)


# --- Bad profiles: exit 2 -------------------------------------------------------------------------


# Each of them in test_profile.
@pytest.mark.parametrize(("content", "expected"), list(HOSTILE.values())[::32])
def test_a_bad_profile_exits_2_and_leaves_the_files(profile, out, capsys, content, expected):
    profile.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    assert run(profile, "-o", out) == 2
    line = only_line(capsys)
    assert all(part in line for part in (str(profile), *expected))
    assert_old(out)


def test_a_missing_profile_exits_2_and_creates_no_folder(tmp_path, capsys):
    assert run(tmp_path / "none.json", "-o", tmp_path / "new") == 2
    assert "none.json: cannot read it: No such file" in only_line(capsys)
    assert list(tmp_path.iterdir()) == []


# --- Bad arguments: exit 2 ------------------------------------------------------------------------


def test_quiet_prints_errors_only(tmp_path, capsys):
    path = tmp_path / "busy.json"
    path.write_text(json.dumps(provisional_profile()), encoding="utf-8")
    assert run(path, "-o", tmp_path, "--quiet", "--prefix", "memcpy") == 0
    assert capsys.readouterr() == ("", "")
    assert run(tmp_path / "absent.json", "--quiet") == 2
    assert "absent.json" in only_line(capsys)


BAD_PREFIXES = ["", "1a", "_a", "a-b", "a b", "a.b", "a/b", "../a", "/tmp/a", "a\n", "a*/", 'a"',
                "a\\", "a\nint main(void){}", "{{a}}", "%s", "caf\u00e9", "\u0430",  # Cyrillic
                "a" * 64]  # fmt: skip


@pytest.mark.parametrize("prefix", BAD_PREFIXES)
def test_a_prefix_that_is_no_c_name_exits_2(profile, out, capsys, prefix):
    assert run(profile, "-o", out, f"--prefix={prefix}") == 2
    assert "--prefix" in only_line(capsys)
    assert_old(out)


RESERVED = ("memcpy", "memmove", "strict", "wcsfast", "pthread", "sig")
GOOD = ("asterope", "mem", "my_memcpy", "M", "fast", "str_", "Mem", "a" * 63)


@pytest.mark.parametrize("prefix", [*RESERVED, *GOOD])
def test_a_prefix_that_gives_names_of_the_c_librarys_is_warned_of(
    profile, tmp_path, capsys, prefix
):
    assert run(profile, "-o", tmp_path, "--prefix", prefix) == 0
    warning = capsys.readouterr().err
    assert (tmp_path / f"{prefix}_memcpy.c").exists()
    assert warning.count("\n") == (prefix in RESERVED)
    if warning:
        assert warning.startswith(f"asterope-generate: warning: --prefix {prefix}: ")
        assert f"{prefix}_memcpy" in warning


def test_a_file_in_place_of_the_folder_exits_1(profile, capsys):
    before = profile.read_bytes()
    assert run(profile, "-o", profile) == 1
    assert re.search(f"{profile}.*Not a directory", only_line(capsys))
    assert profile.read_bytes() == before


# --- Faults while writing: exit 1 -----------------------------------------------------------------


def test_a_folder_in_place_of_one_file_exits_1_and_leaves_the_other(profile, out, capsys):
    (out / NAMES[1]).unlink()
    (out / NAMES[1]).mkdir()
    assert run(profile, "-o", out) == 1
    assert f"{out / NAMES[1]}: cannot write: Is a directory" in only_line(capsys)
    assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    assert (out / NAMES[0]).read_text(encoding="utf-8") == f"the old {NAMES[0]}"


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 1, "cannot write: No space left on"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=["a full disk", "an interrupt"],
)
def test_a_fault_while_a_file_is_written_leaves_both(
    profile, out, capsys, monkeypatch, fault, code, said
):
    calls = iter(range(1, 9))

    def fsync(_descriptor: int) -> None:
        if next(calls) == 2:
            raise fault

    monkeypatch.setattr(atomic_file.os, "fsync", fsync)
    assert run(profile, "-o", out) == code
    assert said in only_line(capsys)
    assert_old(out)


# --- As a process of its own ----------------------------------------------------------------------


def start(*arguments: object, **settings: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "asterope.generate", *map(str, arguments)]
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), **settings.pop("env", {})}
    return subprocess.Popen(command, env=environment, **settings)


def test_a_closed_pipe_on_stdout_is_no_fault(profile, tmp_path):
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = start(profile, "-o", tmp_path, stdout=write_end)
    finally:
        os.close(write_end)
    assert (done.wait(), done.stderr.read()) == (0, "")
    assert all((tmp_path / name).is_file() for name in NAMES)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_stdout_is_no_fault(profile, tmp_path):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = start(profile, "-o", tmp_path, stdout=full)
    assert (done.wait(), done.stderr.read()) == (0, "")
    assert all((tmp_path / name).is_file() for name in NAMES)
