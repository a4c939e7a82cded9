"""The program that a command starts is found, and those that take no preloaded library."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from asterope.program import CannotPreload, find_program
from command_errors import script
from copy_programs import compiled, need_way


def refused(*command: object) -> str:
    with pytest.raises(CannotPreload) as caught:
        find_program([str(word) for word in command])
    message = str(caught.value)
    assert message.isprintable() and len(message) < 300
    return message


def test_a_command_of_this_folder_is_still_found_when_it_is_started(tmp_path, monkeypatch):
    shutil.copy("/bin/true", tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    assert find_program(["./mine"]).file == tmp_path / "mine"


@pytest.mark.parametrize(
    ("line", "own"), [("#!/bin/sh", []), ("#! /bin/sh  ", []), ("#!/bin/sh -e -u", ["-e -u"])]
)
def test_of_a_script_it_is_the_interpreter_which_may_be_a_script(tmp_path, line, own):
    outer = script(tmp_path / "outer", line)
    inner = script(tmp_path / "inner", f"#!{outer}")
    program = find_program([str(inner), "-x"])
    assert str(program.file) == "/bin/sh"
    assert program.arguments == [*own, str(outer), str(inner), "-x"]


def test_what_is_no_program_is_refused(tmp_path):
    (tmp_path / "text").write_text("text")
    for command, said in (
        ("no-such-command-anywhere", "no such command"),
        (tmp_path / "missing", "no such command"),
        (tmp_path, "is a folder"),
        (tmp_path / "text", "chmod +x"),
        (script(tmp_path / "odd\nname", "text"), "neither an ELF program"),
        (script(tmp_path / "empty", "#!"), "names no interpreter"),
        (script(tmp_path / "lost", "#!/no/such/interpreter"), "cannot be read: No such file"),
    ):
        assert said in refused(command), command


def test_what_env_runs_is_looked_at_too(tmp_path):
    static = program_of(tmp_path, "-static")
    assert f"{static}: is linked statically" in refused(static)
    file = script(tmp_path / "script", f"#!/usr/bin/env -S A=1 {static} -x")
    assert f"{file}: runs {static}: is linked statically" in refused(file)
    lost = script(tmp_path / "lost", "#!/usr/bin/env no-such-program")
    assert "runs no-such-program: no such command" in refused(lost)
    good = find_program([str(script(tmp_path / "good", "#!/usr/bin/env sh"))])
    assert (good.file.name, good.found.name) == ("env", "good")


def program_of(folder: Path, *flags: str) -> Path:
    need_way(folder, "cc", *flags)
    return compiled(folder / "program", "int main(void) { return 0; }\n", *flags)


def test_a_program_of_another_libc_is_refused(tmp_path):
    musl = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"
    assert "linked with musl" in refused(program_of(tmp_path, musl))


def test_the_loader_itself_is_no_static_program(tmp_path):
    """It has no interpreter either, and preloads."""
    loader = tmp_path / "ld-linux-x86-64.so.2"
    shutil.copy("/lib64/ld-linux-x86-64.so.2", loader)
    assert find_program([str(loader)]).file == loader


@pytest.mark.parametrize(
    ("offset", "value", "said"),
    [
        (4, b"\x01", "is built for"),  # 32 bits
        (18, struct.pack("<H", 183), "is built for aarch64"),
        (32, struct.pack("<Q", 1 << 62), "truncated"),  # where its program headers are
        (56, struct.pack("<H", 0xFFFF), "truncated"),  # how many
        *((size, None, "is built for") for size in (4, 19, 40, 63)),  # the rest is missing
    ],
)
def test_an_elf_program_of_others_or_a_broken_one_is_refused(tmp_path, offset, value, said):
    program = program_of(tmp_path)
    content = program.read_bytes()
    rest = b"" if value is None else value + content[offset + len(value) :]
    program.write_bytes(content[:offset] + rest)
    assert said in refused(program)


@pytest.mark.parametrize(("mode", "who"), [(0o4755, "set-user-ID"), (0o2755, "set-group-ID")])
def test_a_program_with_more_rights_than_its_caller_is_refused(tmp_path, mode, who):
    program = program_of(tmp_path)
    program.chmod(mode)
    assert find_program([str(program)]).file == program  # ours already
    try:
        os.chown(program, os.getuid() + 1, os.getgid() + 1)
    except PermissionError:
        pytest.skip("needs root, to give a file away")
    program.chmod(mode)
    assert f"is {who}: no library" in refused(program)


def test_capabilities_are_more_rights_but_for_root(tmp_path, monkeypatch):
    program = program_of(tmp_path)
    if not shutil.which("setcap") or os.getuid() != 0:
        pytest.skip("needs root and setcap")
    if subprocess.run(["setcap", "cap_net_raw+ep", program], check=False).returncode:
        pytest.skip("this file system keeps no capabilities")
    assert find_program([str(program)]).file == program
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert "has capabilities" in refused(program)
