"""Programs that take rights away from themselves, with a routine that senses under them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from architectures import NO_BUILTIN, Architecture, build_preload, each, once
from copy_programs import run
from test_preload import under
from test_sensing import need_counter, render_sensing

CANNOT = 77


def with_it(arch: Architecture, folder: Path, how: str) -> tuple:
    """The beginning of a command: a program that has the routine preloaded, or linked."""
    routine = render_sensing(arch, folder)
    if how == "linked":
        by_name = (*NO_BUILTIN, "-DCOPY=asterope_memcpy", routine)
        return (*arch.on(), arch.program(folder, "sandbox_check", *by_name))
    library = build_preload(arch, routine, folder / "library.so")
    return (*under(arch, library), arch.program(folder, "sandbox_check", *NO_BUILTIN))


command = once(with_it)


def ending(command: tuple, how: str) -> int:
    done = run(*command, how)
    if done.returncode == CANNOT:
        pytest.skip("this system takes no such right away")
    return done.returncode


@pytest.mark.parametrize("routine", ["preloaded", "linked"])
@each(emulated=False)
def test_it_is_loaded_where_every_system_call_kills(command, arch, routine):
    assert ending(command(arch, routine), "loading") == 0


FORBIDDEN = ("strict", "strict by syscall", "forbidden", "forbidden by syscall")


@pytest.mark.parametrize("how", FORBIDDEN)
@each(emulated=False)
def test_the_preload_library_no_longer_reads_a_counter_that_is_being_forbidden(command, arch, how):
    need_counter(arch)
    assert ending(command(arch, "preloaded"), how) == 0


@pytest.mark.parametrize("how", ["unseen", "probed"])
@each(emulated=False)
def test_otherwise_it_goes_on_to_read_it(command, arch, how):
    """As it must to be of use, here to die of it: where nothing forbids it, and where the kernel
    refuses a library's probe."""
    need_counter(arch)
    assert ending(command(arch, "preloaded"), how) == -signal.SIGSEGV
