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
from collections.abc import Callable
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


@pytest.fixture
def rendered(tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """Source and header of a profile, of the good one with changes."""

    def render(raw: dict | None = None, **changes: object) -> tuple[str, str]:
        raw = {**(good_profile() if raw is None else raw), **changes}
        raw = {field: value for field, value in raw.items() if value is not None}
        path = tmp_path / "rendered.json"
        path.write_text(json.dumps(raw), encoding="utf-8")
        assert run(path, "-o", tmp_path / "rendered") == 0
        return tuple((tmp_path / "rendered" / name).read_text(encoding="ascii") for name in NAMES)

    return render


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
    for folder in ("a", "b"):  # in processes of their own, whose hashes of strings differ
        done = start(profile, "-o", tmp_path / folder, env={"PYTHONHASHSEED": str(ord(folder))})
        assert done.wait() == 0
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


def test_a_partial_machine_and_search_are_rendered(rendered):
    rendered(machine={"cpu": {"model": 17}}, search={"rigor": "quick"})


DESCRIPTION = re.compile(r'asterope_tuned_for\[\][^;"]*"([^"\\\n]*)";')


def test_text_from_the_profile_reaches_comments_and_the_description_only(rendered):
    name = "Z0 ()@.,:_+/-//"
    text = "Z0 !#$%&'()+,./:;<=>@[]^_|~- %s %n //"
    raw = good_profile()
    raw["source"] = text
    raw["machine"]["cpu"]["brand"] = raw["machine"]["libc"] = name
    raw["search"]["warnings"] = [text]
    raw["small"]["distribution"] = name
    finished = raw["search"]["finished"]
    odd = rendered(raw)
    assert text in odd[0]
    assert DESCRIPTION.search(odd[0])[1].endswith(f", tuned for {name}, balanced, {finished}")
    for plain, other in zip(rendered(), odd):
        described = DESCRIPTION.search(other)
        if described:  # the one string: put the other's in its place
            other = other.replace(described[1], DESCRIPTION.search(plain)[1])
        assert without_comments(plain) == without_comments(other)


HEADING = " * Up to      RT        LT ST PT   PS PD TB PI PW D        GB/s  x libc\n"
SMALL = "bytes, whatever the rows above say: small copies"
OVERLAP = " * Buffers that overlap, above that"
# What the head comment says: of which fields less, and what.
HEAD = {
    "small copies": ([], f" * Up to 256 {SMALL}, masked, ZMM, tests up, 1.21 x libc.\n"),
    "the plain small copy": (["small"], f" * Up to 128 {SMALL}, stepped, XMM, tests middle.\n"),
    "overlaps": ([], f"{OVERLAP}: YMM, 128 bytes a turn, 1.10 x libc.\n"),
    "the plain move": (["overlapping"], f"{OVERLAP}: XMM, 128 bytes a turn.\n"),
    # hot has double the weight: 40^(2/3) 10^(1/3)
    "a row": (
        [],
        HEADING + " * 128 B      YMM       T  NT T0    4  0  2  1  0 up      25.20    1.31\n",
    ),
    "both pipelines of a sensing copy, and its probe": (
        [],
        " * 20000 B    ZMM       T  T  T0   16  8 16  1  0 up      12.50    1.10\n"
        " * 1 MiB      sensing source 4 > 300                      14.50    1.41\n"
        " *   cached   YMM       T  T  none  0  0  2  1  8 up\n"
        " *   uncached XMM       T  NT T0    4  8  2  4  0 up\n"
        " * no counter ZMM       T  T  T0   16  8 16  1  0 up      12.50    1.10\n *\n",
    ),
    "what sensing is": ([], " * Where a row says `sensing`, "),
    "the words of the axes": ([], "\n * TB transfer block in lines, "),
    **{
        f"the table of {name}": (
            [],
            f" * asterope_memcpy_{name}, its figures those of the workload {name} alone:\n{HEADING}"
            f" * 128 B      YMM       T  NT T0    4  0  2  1  0 up      {figures}    1.31\n",
        )
        for name, figures in (("hot", "40.00"), ("cold", "10.00"))
    },
    "the table of consume, without figures": (
        [],
        " * asterope_memcpy_consume:\n"
        " * Up to      RT        LT ST PT   PS PD TB PI PW D\n"
        " * 4 KiB      YMM       T  T  none  0  0  2  1  8 up\n *\n",
    ),
    "a mapped source": (
        [],
        "memory mapped from /sys/bus/pci/devices/0000:01:00.0/resource1_wc, not",
    ),
}


@pytest.mark.parametrize(("without", "said"), HEAD.values(), ids=HEAD)
def test_the_head_comment_says(rendered, without, said):
    assert said in rendered(**dict.fromkeys(without))[0]


ALL_STEPS = [
    *("boundaries", "small copies", "overlapping buffers"),
    *("aliasing buffers", "sensing", "threads"),
]


AGAIN = "run asterope-tune again with more time"
INCOMPLETE = [
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
]


@pytest.mark.parametrize(("left_out", "words"), INCOMPLETE)
def test_an_incomplete_profile_is_rendered_and_says_so(rendered, tmp_path, capsys, left_out, words):
    source, _ = rendered(incomplete_profile(), left_out=left_out)
    stdout, stderr = capsys.readouterr()
    assert stdout.startswith("wrote ")
    warning = f"asterope-generate: warning: {tmp_path / 'rendered.json'}: incomplete: "
    assert stderr == f"{warning}{words}: {AGAIN}\n"
    line = f" * Incomplete: {words}\n"
    assert source.count(line) == 1
    # It is the routine of the same winners all the same.
    complete, _ = rendered(incomplete_profile(), complete=True, left_out=None)
    assert capsys.readouterr().err == ""
    assert "Incomplete" not in complete
    assert source.replace(line, "") == complete


def test_a_shard_says_that_the_others_are_to_be_joined(rendered, tmp_path, capsys):
    rendered(shard_profile())
    assert capsys.readouterr().err == (
        f"asterope-generate: warning: {tmp_path / 'rendered.json'}: incomplete: it is shard 2 of "
        "the 3 of a search: join it with the other shards: asterope-tune merge\n"
    )


def test_a_merged_profile_renders_and_where_it_lacks_sizes_asks_for_the_logs(rendered, capsys):
    raw = merged_profile()
    rendered(raw)
    assert capsys.readouterr().err == ""
    raw["merged"]["from"] = "machines"
    rendered(raw, complete=False, left_out={"sizes": [8192], "steps": []})
    assert "merge the trial logs of these searches" in capsys.readouterr().err


def test_without_extensions_sensing_or_intents_nothing_speaks_of_them(rendered):
    plain = {"intervals": good_profile()["intervals"][:4], "intents": None, "search": None}
    for text in rendered(**plain):
        assert not re.search(r"sens|TB PI|memcpy_(hot|cold|consume)|prctl|rdtsc|mapped", text)


@pytest.mark.parametrize(
    ("weights", "words"),
    [({"workload": "cold"}, "cold"), ({"weights": {"hot": 1, "cold": 0, "consume": 2.5}}, None)],
)
def test_what_was_tuned_for_is_named(rendered, weights, words):
    source, _ = rendered(search={"workload": "weights", **weights})
    words = words or "hot 1, consume 2.5"
    assert f" * Workload: {words}, unknown search of the unknown space, unknown\n" in source
    assert DESCRIPTION.search(source)[1].endswith(f", {words}, unknown")


@pytest.mark.parametrize("names", [["hot", "cold", "consume"], ["consume"], []])
def test_the_header_declares_the_intents_of_the_profile_only(rendered, names):
    _, header = rendered(intents={name: good_profile()["intents"][name] for name in names})
    assert re.findall(r"memcpy_(\w+)\(", header) == [*names, "mt"]
    assert header.count("Where it is not so, ") == len(names)


@pytest.mark.parametrize(("bound", "left"), [(128, "468"), (256, "68"), (512, "8")])
def test_what_the_small_copy_does_needs_no_pipeline(rendered, bound, left):
    raw = good_profile()
    raw["small"]["winner"]["tuple"]["bound"] = bound
    raw["intervals"] = raw["intervals"][:4]
    for interval, pd in zip(raw["intervals"], (2, 4, 6, 8)):  # up to 128, 256, 512, 1024
        interval["winner"]["tuple"]["pd"] = pd
    source = without_comments(rendered(raw, intents=None)[0])
    assert set(re.findall(r"asterope_copy_\w+?(\d+)(?=\(void\))", source)) == set(left)


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


def test_a_provisional_profile_is_rendered_and_says_so(rendered, tmp_path, capsys):
    source, _ = rendered(provisional_profile())
    assert capsys.readouterr().err == (
        f"asterope-generate: warning: {tmp_path / 'rendered.json'}: {DOUBT}: "
        "these winners are provisional; run again on a quieter machine\n"
    )
    head = source[: source.index("*/")].splitlines()
    assert f" * Provisional: {DOUBT}; tune again on a quieter machine" in head
    assert "rovisional" not in rendered()[0]
    assert capsys.readouterr().err == ""


def test_quiet_prints_errors_only(tmp_path, capsys):
    path = tmp_path / "busy.json"
    path.write_text(json.dumps(provisional_profile()), encoding="utf-8")
    assert run(path, "-o", tmp_path, "--quiet", "--prefix", "memcpy") == 0
    assert capsys.readouterr() == ("", "")
    assert run(tmp_path / "absent.json", "--quiet") == 2
    assert "absent.json" in only_line(capsys)


BAD = ["a b", "--unknown a", "--pref x a", "a -o", "a --prefix", "a --odd\noption"]


@pytest.mark.parametrize("arguments", BAD)
def test_bad_arguments_exit_2_with_one_line(arguments, capsys):
    assert run(*arguments.split(" ")) == 2
    assert "--help" in only_line(capsys)


BAD_PREFIXES = ["", "1a", "_a", "a-b", "a b", "a.b", "a/b", "../a", "/tmp/a", "a\n", "a*/", 'a"',
                "a\\", "a\nint main(void){}", "{{a}}", "%s", "caf\u00e9", "\u0430",  # Cyrillic
                "a" * 64, "int", "restrict", "class", "co_await"]  # fmt: skip


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
    command = [sys.executable, "-m", "asterope.generate", *map(str, arguments)]
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), **settings.pop("env", {})}
    return subprocess.Popen(command, env=environment, **settings)


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


@pytest.mark.parametrize("place", [(generate, "render_routine"), (atomic_file.os, "fsync")])
def test_an_interrupt_exits_130_and_leaves_both_files(profile, out, capsys, monkeypatch, place):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(*place, interrupted)
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
def test_a_full_stdout_exits_1_with_one_line(profile, tmp_path):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = start(profile, "-o", tmp_path, stdout=full)
    assert done.wait() == 1
    assert done.stderr.read() == (
        "asterope-generate: standard output: No space left on device: but the files are written\n"
    )
