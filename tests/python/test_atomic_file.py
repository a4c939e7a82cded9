"""Files of the Python commands: whole or not at all; nothing else is replaced or left behind."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from asterope import atomic_file
from asterope.atomic_file import write_files
from asterope.command_line import run
from command_errors import finished, make_device, python_settings


def test_a_link_to_a_device_is_followed(tmp_path):
    device = make_device(tmp_path / "device")
    (tmp_path / "link").symlink_to("device")
    write_files(tmp_path, {"link": "text"})
    assert stat.S_ISCHR(device.stat().st_mode)
    assert (tmp_path / "link").is_symlink()


def test_a_pipe_gets_the_text(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The pipe is open before it is written: nothing here waits for the other.
    keeps_open = os.open(pipe, os.O_RDWR)
    with ThreadPoolExecutor() as reader:
        read = reader.submit(pipe.read_bytes)
        write_files(tmp_path, {"pipe": "text" * 100_000})
        os.close(keeps_open)
    assert read.result() == b"text" * 100_000
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_without_a_reader_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="nothing reads this pipe"):
        write_files(tmp_path, {"other": "text", "pipe": "text"})
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("old", ["old", None], ids=["a file", "nothing yet"])
def test_a_links_target_is_replaced_and_the_link_stays(tmp_path, old):
    folder = tmp_path / "folder"
    folder.mkdir()
    if old is not None:
        (folder / "file").write_text(old)
    (tmp_path / "middle").symlink_to("folder/file")
    (tmp_path / "link").symlink_to(tmp_path / "middle")
    write_files(tmp_path, {"link": "new"})
    assert (folder / "file").read_text() == "new"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "middle").is_symlink()
    assert os.listdir(folder) == ["file"]


def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_files(tmp_path, {"a": "new"})
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1"])
@pytest.mark.parametrize("into", [">file", "| cat >file"])
def test_standard_output_is_written_wherever_it_leads(tmp_path, name, into):
    folder, _, last = name.rpartition("/")
    code = f"""from pathlib import Path
from asterope.atomic_file import write_files
print("before", flush=True)
write_files(Path({folder!r}), {{{last!r}: "text\\n"}})
print("after")"""
    its = python_settings(tmp_path, "-c", code)
    finished({**its, "args": ["sh", "-c", f"{shlex.join(its['args'])} {into}"]})
    assert (tmp_path / "file").read_text() == "before\ntext\nafter\n"
    assert sorted(os.listdir(tmp_path)) == ["file", "tmp"]


def test_the_file_of_a_living_process_is_left_alone(tmp_path, monkeypatch):
    """While the first is being written, another process writes the same."""
    fsync, inner = os.fsync, []

    def meanwhile(descriptor: int) -> None:
        if not inner:
            inner.append(True)
            write_files(tmp_path, {"file": "second"})
        fsync(descriptor)

    monkeypatch.setattr(atomic_file.os, "fsync", meanwhile)
    write_files(tmp_path, {"file": "first"})
    assert (tmp_path / "file").read_text() == "first"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_writing_comes_when_all_is_written(tmp_path, monkeypatch, capsys, number):
    fsync = os.fsync

    def meanwhile(descriptor: int) -> None:
        signal.raise_signal(number)
        fsync(descriptor)

    monkeypatch.setattr(atomic_file.os, "fsync", meanwhile)
    assert run("name", lambda: write_files(tmp_path, {"a": "1", "b": "2"})) == 130
    assert capsys.readouterr().err == "name: interrupted\n"
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_signal_comes_though_the_writing_fails(tmp_path, monkeypatch, capsys):
    def fails(descriptor: int) -> None:
        signal.raise_signal(signal.SIGINT)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic_file.os, "fsync", fails)
    assert run("name", lambda: write_files(tmp_path, {"a": "1"})) == 130
    assert capsys.readouterr().err == "name: interrupted\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a" * 244, "a" * 255, "ä" * 127])
def test_the_longest_names_can_be_written(tmp_path, name):
    leftover = tmp_path / os.fsdecode(os.fsencode(f".{name}")[:244] + b".abcdef.tmp")
    leftover.touch()
    write_files(tmp_path, {name: "text"})
    assert os.listdir(tmp_path) == [name]


def test_what_a_killed_process_left_is_removed_by_the_next_one_and_nothing_else(tmp_path):
    others = {".a.tmp", ".a.abc.tmp", ".a.abcdef", ".other.abcdef.tmp", "a.abcdef.tmp"}
    for name in others:
        (tmp_path / name).write_text("left")
    child = os.fork()
    if child == 0:
        atomic_file.os.fsync = lambda _: signal.raise_signal(signal.SIGKILL)
        write_files(tmp_path, {"a": "1"})
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert len({*os.listdir(tmp_path)} - others) == 1
    write_files(tmp_path, {"a": "2"})
    assert {*os.listdir(tmp_path)} == {*others, "a"}
