"""The command asterope-generate: its exit codes, its one-line errors, and whole files or none."""

from __future__ import annotations

import errno
import json
import os
import re
import select
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import asterope
import pytest
from asterope import atomic_file, generate
from profile_samples import (
    DOUBT,
    HOSTILE,
    good_profile,
    incomplete_profile,
    merged_profile,
    provisional_profile,
    shard_profile,
)

NAMES = ("asterope_memcpy.c", "asterope_memcpy.h")
SCRIPTS = Path(generate.__file__).parents[1]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(good_profile()), encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that holds the files of an earlier run."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(f"the old {name}", encoding="utf-8")
    return folder


def run(*arguments: object) -> int:
    try:
        return generate.main([str(argument) for argument in arguments])
    except SystemExit as left:  # as argparse leaves
        return left.code


def assert_old(folder: Path) -> None:
    """The earlier run's files stand as they were, with nothing beside them."""
    assert sorted(path.name for path in folder.iterdir()) == list(NAMES)
    for name in NAMES:
        assert (folder / name).read_text(encoding="utf-8") == f"the old {name}"


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed: nothing on stdout, one line on stderr, which is returned."""
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr.startswith("asterope-generate: ")
    assert stderr.endswith("\n")
    assert stderr[:-1].isprintable()
    return stderr


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


# --- Done -----------------------------------------------------------------------------------------


def test_it_writes_both_files_and_says_so_in_one_line(profile, out, capsys):
    assert run(profile, "-o", out) == 0
    assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    for name in NAMES:
        assert "asterope_memcpy" in (out / name).read_text(encoding="ascii")
    stdout, stderr = capsys.readouterr()
    assert stdout == f"wrote {out / NAMES[0]} and {out / NAMES[1]} (6 intervals)\n"
    assert stderr == ""


def test_without_o_it_writes_into_the_current_folder(profile, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(profile) == 0
    assert all((tmp_path / name).is_file() for name in NAMES)


def test_a_missing_folder_is_created_with_its_parents(profile, tmp_path):
    assert run(profile, "-o", tmp_path / "a" / "b") == 0
    assert all((tmp_path / "a" / "b" / name).is_file() for name in NAMES)


def test_the_same_profile_gives_the_same_bytes(profile, tmp_path):
    for folder in ("a", "b"):
        # In processes of their own, whose hashes of strings differ.
        command = [sys.executable, "-m", "asterope.generate", profile, "-o", tmp_path / folder]
        environment = {
            **os.environ,
            "PYTHONPATH": str(SCRIPTS),
            "PYTHONHASHSEED": str(ord(folder)),
        }
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_files_have_the_mode_of_any_new_file(profile, tmp_path):
    before = os.umask(0o027)
    try:
        assert run(profile, "-o", tmp_path) == 0
    finally:
        os.umask(before)
    for name in NAMES:
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


def test_the_prefix_names_files_and_functions(profile, tmp_path):
    assert run(profile, "-o", tmp_path, "--prefix", "My_Copy2") == 0
    header = (tmp_path / "My_Copy2_memcpy.h").read_text(encoding="ascii")
    assert "My_Copy2_memcpy(" in header
    source = (tmp_path / "My_Copy2_memcpy.c").read_text(encoding="ascii")
    assert '#include "My_Copy2_memcpy.h"' in source
    assert "asterope_" not in without_comments(header + source)


def test_a_partial_machine_and_search_are_rendered(tmp_path):
    raw = good_profile()
    raw["machine"] = {"cpu": {"model": 17}}
    raw["search"] = {"rigor": "quick"}
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert run(path, "-o", tmp_path) == 0


DESCRIPTION = re.compile(r'asterope_tuned_for\[\][^;"]*"([^"\\\n]*)";')


def test_text_from_the_profile_reaches_comments_and_the_description_only(profile, tmp_path):
    name = "Z0 ()@.,:_+/-//"
    text = "Z0 !#$%&'()+,./:;<=>@[]^_|~- %s %n //"
    raw = good_profile()
    raw["source"] = text
    raw["machine"]["cpu"]["brand"] = raw["machine"]["libc"] = name
    raw["search"]["warnings"] = [text]
    raw["small"]["distribution"] = name
    other = tmp_path / "other.json"
    other.write_text(json.dumps(raw), encoding="utf-8")
    assert run(profile, "-o", tmp_path / "a") == 0
    assert run(other, "-o", tmp_path / "b") == 0
    source = (tmp_path / "b" / NAMES[0]).read_text(encoding="ascii")
    assert text in source
    assert DESCRIPTION.search(source)[1].endswith(
        f", tuned for {name}, balanced, {raw['search']['finished']}"
    )
    for file in NAMES:
        plain, odd = ((tmp_path / folder / file).read_text("ascii") for folder in ("a", "b"))
        described = DESCRIPTION.search(odd)
        if described:  # the one string: put the other's in its place
            odd = odd.replace(described[1], DESCRIPTION.search(plain)[1])
        assert without_comments(plain) == without_comments(odd)


def test_the_head_comment_says_what_copies_small_sizes(profile, tmp_path):
    rest = "bytes, whatever the rows above say: small copies"
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    assert f" * Up to 256 {rest}, masked, ZMM, tests up, 1.21 x libc.\n" in source
    raw = good_profile()
    del raw["small"]
    profile.write_text(json.dumps(raw), encoding="utf-8")
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    assert f" * Up to 128 {rest}, stepped, XMM, tests middle.\n" in source


def test_the_head_comment_says_what_copies_overlapping_buffers(profile, tmp_path):
    what = " * Buffers that overlap, above that"
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    assert f"{what}: YMM, 128 bytes a turn, 1.10 x libc.\n" in source
    raw = good_profile()
    del raw["overlapping"]
    profile.write_text(json.dumps(raw), encoding="utf-8")
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    assert f"{what}: XMM, 128 bytes a turn.\n" in source


ALL_STEPS = [
    *("boundaries", "small copies", "overlapping buffers"),
    *("aliasing buffers", "sensing", "threads"),
]


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (
            {"sizes": [8192, 2097152], "steps": ALL_STEPS},
            "the search left out the sizes 8 KiB, 2 MiB; boundaries; small copies; "
            "overlapping buffers; aliasing buffers; sensing; threads",
        ),
        ({"sizes": [4096]}, "the search left out the size 4 KiB"),
        ({"steps": ["sensing"]}, "the search left out sensing"),
        # Coarse to fine, as they would have been searched; told from the smallest to the largest.
        (
            {"sizes": [2048, 8388608, 300, 4096, 8192]},
            "the search left out 5 sizes from 300 B to 8 MiB",
        ),
        (None, "what the search left out is not known"),
    ],
)
def test_an_incomplete_profile_is_rendered_and_says_so(tmp_path, capsys, left_out, words):
    raw = incomplete_profile()
    raw["left_out"] = left_out
    if left_out is None:
        del raw["left_out"]
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert run(path, "-o", tmp_path / "a") == 0
    stdout, stderr = capsys.readouterr()
    assert stdout.startswith("wrote ")
    assert stderr == (
        f"asterope-generate: warning: {path}: incomplete: {words}: "
        "run asterope-tune again with more time\n"
    )
    source = (tmp_path / "a" / NAMES[0]).read_text(encoding="ascii")
    assert source.count(f" * Incomplete: {words}\n") == 1
    # It is the routine of the same winners all the same.
    raw["complete"] = True
    raw.pop("left_out", None)
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert run(path, "-o", tmp_path / "b") == 0
    assert capsys.readouterr().err == ""
    complete = (tmp_path / "b" / NAMES[0]).read_text(encoding="ascii")
    assert "Incomplete" not in complete
    assert source.replace(f" * Incomplete: {words}\n", "") == complete


def test_a_shard_says_that_the_others_are_to_be_joined(tmp_path, capsys):
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(shard_profile()), encoding="utf-8")
    assert run(path, "-o", tmp_path) == 0
    assert capsys.readouterr().err == (
        f"asterope-generate: warning: {path}: incomplete: it is shard 2 of the 3 of a search: "
        "join it with the other shards: asterope-tune merge\n"
    )


def test_a_merged_profile_renders_and_where_it_lacks_sizes_asks_for_the_logs(tmp_path, capsys):
    raw = merged_profile()
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert run(path, "-o", tmp_path) == 0
    assert capsys.readouterr().err == ""
    raw["merged"]["from"] = "machines"
    raw["complete"] = False
    raw["left_out"] = {"sizes": [8192], "steps": []}
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert run(path, "-o", tmp_path) == 0
    assert "merge the trial logs of these searches" in capsys.readouterr().err


HEADING = " * Up to      RT        LT ST PT   PS PD TB PI PW D        GB/s  x libc\n"


def test_the_head_comment_shows_both_pipelines_of_a_sensing_copy_and_its_probe(profile, tmp_path):
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    assert (
        HEADING + " * 128 B      YMM       T  NT T0    4  0  2  1  0 up      20.00    1.31\n"
    ).replace("20.00", "25.20") in source  # hot has double the weight: 40^(2/3) 10^(1/3)
    assert (
        " * 20000 B    ZMM       T  T  T0   16  8 16  1  0 up      12.50    1.10\n"
        " * 1 MiB      sensing source 4 > 300                      14.50    1.41\n"
        " *   cached   YMM       T  T  none  0  0  2  1  8 up\n"
        " *   uncached XMM       T  NT T0    4  8  2  4  0 up\n"
        " * no counter ZMM       T  T  T0   16  8 16  1  0 up      12.50    1.10\n *\n"
    ) in source
    assert " * Where a row says `sensing`, " in source
    assert "\n * TB transfer block in lines, " in source


def test_the_head_comment_has_a_table_for_each_intent(profile, tmp_path):
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    alone = ", its figures those of the workload {0} alone"
    for name, figures in (("hot", "40.00"), ("cold", "10.00")):
        title = f" * asterope_memcpy_{name}{alone.format(name)}:\n"
        row = f" * 128 B      YMM       T  NT T0    4  0  2  1  0 up      {figures}    1.31\n"
        assert title + HEADING + row in source
    assert (
        " * asterope_memcpy_consume:\n"
        " * Up to      RT        LT ST PT   PS PD TB PI PW D\n"
        " * 4 KiB      YMM       T  T  none  0  0  2  1  8 up\n *\n"
    ) in source


def test_without_extensions_sensing_or_intents_nothing_speaks_of_them(profile, tmp_path):
    raw = good_profile()
    raw["intervals"] = raw["intervals"][:4]
    del raw["intents"], raw["search"]
    profile.write_text(json.dumps(raw), encoding="utf-8")
    assert run(profile, "-o", tmp_path) == 0
    for name in NAMES:
        text = (tmp_path / name).read_text(encoding="ascii")
        assert not re.search(r"sens|TB PI|memcpy_(hot|cold|consume)|prctl|rdtsc|mapped", text)


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({"workload": "cold"}, "cold"),
        (
            {"workload": "weights", "weights": {"hot": 1, "cold": 0, "consume": 2.5}},
            "hot 1, consume 2.5",
        ),
    ],
)
def test_what_was_tuned_for_is_named(profile, tmp_path, search, words):
    raw = good_profile()
    raw["search"] = search
    profile.write_text(json.dumps(raw), encoding="utf-8")
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    assert f" * Workload: {words}, unknown search of the unknown space, unknown\n" in source
    assert DESCRIPTION.search(source)[1].endswith(f", {words}, unknown")


def test_a_mapped_source_is_named(profile, tmp_path):
    assert run(profile, "-o", tmp_path) == 0
    source = (tmp_path / NAMES[0]).read_text(encoding="ascii")
    assert "memory mapped from /sys/bus/pci/devices/0000:01:00.0/resource1_wc, not" in source


def test_the_header_declares_the_intents_of_the_profile_only(profile, tmp_path):
    raw = good_profile()
    for names in (["hot", "cold", "consume"], ["consume"], []):
        raw["intents"] = {name: good_profile()["intents"][name] for name in names}
        profile.write_text(json.dumps(raw), encoding="utf-8")
        assert run(profile, "-o", tmp_path) == 0
        header = (tmp_path / NAMES[1]).read_text(encoding="ascii")
        assert re.findall(r"memcpy_(\w+)\(", header) == [*names, "mt"]
        assert header.count("Where it is not so, ") == len(names)


def test_what_the_small_copy_does_needs_no_pipeline(profile, tmp_path):
    def pipelines(bound: int) -> set[str]:
        raw = good_profile()
        raw["small"]["winner"]["tuple"]["bound"] = bound
        raw["intervals"] = raw["intervals"][:4]
        del raw["intents"]
        for interval, pd in zip(raw["intervals"], (2, 4, 6, 8)):  # up to 128, 256, 512, 1024
            interval["winner"]["tuple"]["pd"] = pd
        profile.write_text(json.dumps(raw), encoding="utf-8")
        assert run(profile, "-o", tmp_path) == 0
        source = without_comments((tmp_path / NAMES[0]).read_text(encoding="ascii"))
        return set(re.findall(r"asterope_copy_\w+?(\d+)(?=\(void\))", source))

    assert pipelines(128) == {"4", "6", "8"}
    assert pipelines(256) == {"6", "8"}
    assert pipelines(512) == {"8"}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_go_to_stdout(option, capsys):
    assert run(option) == 0
    stdout, stderr = capsys.readouterr()
    assert stdout.startswith(("usage: asterope-generate", "asterope-generate"))
    assert (option == "--help") != (stdout == f"asterope-generate {asterope.__version__}\n")
    assert stderr == ""


# --- Bad profiles: exit 2 -------------------------------------------------------------------------


# Each of them in test_profile.
@pytest.mark.parametrize(("content", "expected"), list(HOSTILE.values())[::32])
def test_a_bad_profile_exits_2_and_leaves_the_files(profile, out, capsys, content, expected):
    profile.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    assert run(profile, "-o", out) == 2
    line = only_line(capsys)
    assert str(profile) in line
    for part in expected:
        assert part in line
    assert_old(out)


def test_a_missing_profile_exits_2_and_creates_no_folder(tmp_path, capsys):
    assert run(tmp_path / "none.json", "-o", tmp_path / "new") == 2
    assert "none.json: cannot read it: No such file" in only_line(capsys)
    assert list(tmp_path.iterdir()) == []


# --- Bad arguments: exit 2 ------------------------------------------------------------------------


def test_a_provisional_profile_is_rendered_and_says_so(tmp_path, capsys):
    path = tmp_path / "busy.json"
    path.write_text(json.dumps(provisional_profile()), encoding="utf-8")
    assert run(path, "-o", tmp_path) == 0
    assert capsys.readouterr().err == (
        f"asterope-generate: warning: {path}: {DOUBT}: "
        "these winners are provisional; run again on a quieter machine\n"
    )
    source = (tmp_path / "asterope_memcpy.c").read_text(encoding="ascii")
    head = source[: source.index("*/")].splitlines()
    assert f" * Provisional: {DOUBT}; tune again on a quieter machine" in head


def test_a_profile_that_is_not_provisional_says_nothing_of_it(profile, tmp_path, capsys):
    assert run(profile, "-o", tmp_path) == 0
    assert capsys.readouterr().err == ""
    assert "rovisional" not in (tmp_path / "asterope_memcpy.c").read_text(encoding="ascii")


def test_quiet_prints_errors_only(tmp_path, capsys):
    path = tmp_path / "busy.json"
    path.write_text(json.dumps(provisional_profile()), encoding="utf-8")
    assert run(path, "-o", tmp_path, "--quiet", "--prefix", "memcpy") == 0
    assert capsys.readouterr() == ("", "")
    assert run(tmp_path / "absent.json", "--quiet") == 2
    assert "absent.json" in only_line(capsys)


@pytest.mark.parametrize(
    "arguments",
    [
        ("a", "b"),
        ("--unknown", "a"),
        ("--pref", "x", "a"),
        ("a", "-o"),
        ("a", "--prefix"),
        ("a", "--odd\noption"),
    ],
)
def test_bad_arguments_exit_2_with_one_line(arguments, capsys):
    assert run(*arguments) == 2
    assert "--help" in only_line(capsys)


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "1a",
        "_a",
        "a-b",
        "a b",
        "a.b",
        "a/b",
        "../a",
        "/tmp/a",
        "a\n",
        "a\nint main(void){}",
        "a*/",
        'a"',
        "a\\",
        "{{a}}",
        "%s",
        "caf\u00e9",
        "\u0430",  # a Cyrillic letter that looks like a
        "a" * 64,
        "int",
        "restrict",
        "class",
        "co_await",
    ],
)
def test_a_prefix_that_is_no_c_name_exits_2(profile, out, capsys, prefix):
    assert run(profile, "-o", out, f"--prefix={prefix}") == 2
    assert "--prefix" in only_line(capsys)
    assert_old(out)


@pytest.mark.parametrize("prefix", ["memcpy", "memmove", "strict", "wcsfast", "pthread", "sig"])
def test_a_prefix_that_gives_names_of_the_c_librarys_is_warned_of(
    profile, tmp_path, capsys, prefix
):
    assert run(profile, "-o", tmp_path, "--prefix", prefix) == 0
    warning = capsys.readouterr().err
    assert warning.startswith(f"asterope-generate: warning: --prefix {prefix}: ")
    assert f"{prefix}_memcpy" in warning
    assert warning.count("\n") == 1
    assert (tmp_path / f"{prefix}_memcpy.c").exists()


@pytest.mark.parametrize("prefix", ["asterope", "mem", "my_memcpy", "M", "fast", "str_", "Mem"])
def test_other_prefixes_are_not(profile, tmp_path, capsys, prefix):
    assert run(profile, "-o", tmp_path, "--prefix", prefix) == 0
    assert capsys.readouterr().err == ""


def test_a_prefix_of_63_characters_is_accepted(profile, tmp_path):
    assert run(profile, "-o", tmp_path, "--prefix", "a" * 63) == 0


# --- Faults while writing: exit 1 -----------------------------------------------------------------


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_file_in_place_of_the_folder_exits_1(profile, tmp_path, capsys, inside):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine", encoding="utf-8")
    assert run(profile, "-o", in_the_way / inside) == 1
    line = only_line(capsys)
    assert str(in_the_way) in line
    assert "Not a directory" in line
    assert in_the_way.read_text(encoding="utf-8") == "mine"


def test_a_folder_in_place_of_a_file_exits_1_and_leaves_the_other(profile, out, capsys):
    (out / NAMES[1]).unlink()
    (out / NAMES[1]).mkdir()
    assert run(profile, "-o", out) == 1
    assert f"{out / NAMES[1]}: cannot write: Is a directory" in only_line(capsys)
    assert sorted(path.name for path in out.iterdir()) == list(NAMES)
    assert (out / NAMES[0]).read_text(encoding="utf-8") == f"the old {NAMES[0]}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_exits_1(profile, out, capsys):
    out.chmod(0o500)
    try:
        assert run(profile, "-o", out) == 1
    finally:
        out.chmod(0o700)
    assert "Permission denied" in only_line(capsys)
    assert_old(out)


@pytest.mark.parametrize("full_at", [1, 2])
def test_a_full_disk_exits_1_and_leaves_both_files(profile, out, capsys, monkeypatch, full_at):
    calls = 0

    def fsync(_descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == full_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic_file.os, "fsync", fsync)
    assert run(profile, "-o", out) == 1
    assert f"{out}: cannot write: No space left on device" in only_line(capsys)
    assert_old(out)


# --- No regular files -----------------------------------------------------------------------------


def start(*arguments: object, **settings: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "asterope.generate", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


def test_a_pipe_that_nothing_is_written_to_is_refused_and_not_waited_for(tmp_path, out, capsys):
    os.mkfifo(tmp_path / "pipe")
    assert run(tmp_path / "pipe", "-o", out) == 2
    assert "a pipe that nothing was written to" in only_line(capsys)
    assert_old(out)


def test_a_profile_comes_through_a_pipe(profile, tmp_path):
    with open(profile, "rb") as text:
        done = start("/dev/stdin", "-o", tmp_path, stdin=text)
        assert (done.wait(), done.stderr.read()) == (0, "")
    assert all((tmp_path / name).is_file() for name in NAMES)


def test_a_byte_order_mark_in_front_of_the_profile_is_skipped(profile, tmp_path):
    plain, marked = tmp_path / "plain", tmp_path / "marked"
    assert run(profile, "-o", plain) == 0
    profile.write_bytes(b"\xef\xbb\xbf" + profile.read_bytes())
    assert run(profile, "-o", marked) == 0
    for name in NAMES:
        assert (marked / name).read_bytes() == (plain / name).read_bytes()


def test_a_loop_of_links_exits_1_and_leaves_the_other(profile, out, capsys):
    (out / NAMES[1]).unlink()
    (out / NAMES[1]).symlink_to(NAMES[1])
    assert run(profile, "-o", out) == 1
    assert "Too many levels of symbolic links" in only_line(capsys)
    assert (out / NAMES[0]).read_text(encoding="utf-8") == f"the old {NAMES[0]}"


# --- Interrupted, and nobody listening ------------------------------------------------------------


def test_an_interrupt_while_rendering_exits_130(profile, out, capsys, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(generate, "render_routine", interrupted)
    assert run(profile, "-o", out) == 130
    assert "interrupted" in only_line(capsys)
    assert_old(out)


def test_an_interrupt_while_writing_exits_130_and_leaves_both_files(
    profile, out, capsys, monkeypatch
):
    def interrupted(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic_file.os, "fsync", interrupted)
    assert run(profile, "-o", out) == 130
    assert "interrupted" in only_line(capsys)
    assert_old(out)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_exits_130_with_one_line_and_leaves_both_files(out, number):
    read_end, write_end = os.pipe()
    waiting = start("/dev/stdin", "-o", out, stdin=read_end)
    os.write(write_end, b"{")
    while select.select([read_end], [], [], 0)[0]:  # until it has begun to read
        time.sleep(0.01)
    waiting.send_signal(number)
    assert waiting.wait() == 130
    assert waiting.stderr.read() == "asterope-generate: interrupted\n"
    assert_old(out)
    os.close(read_end)
    os.close(write_end)


def as_command(profile: Path, folder: Path, stdout: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "asterope.generate", profile, "-o", folder],
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def test_a_closed_pipe_on_stdout_is_no_fault(profile, tmp_path):
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = as_command(profile, tmp_path, write_end)
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (0, "")
    assert all((tmp_path / name).is_file() for name in NAMES)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_stdout_exits_1_with_one_line(profile, tmp_path):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = as_command(profile, tmp_path, full.fileno())
    assert done.returncode == 1
    assert done.stderr == (
        "asterope-generate: standard output: No space left on device: but the files are written\n"
    )
