"""The messages between two processes of MPI: they come, and what they took is said."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from command_errors import run_command
from copy_programs import need, output_of

pytestmark = pytest.mark.slow

SHARED_MEMORY = ("--mca", "pml", "ob1", "--mca", "btl", "self,vader")
NO_SINGLE_COPY = ("--mca", "btl_vader_single_copy_mechanism", "none")


@pytest.fixture(scope="module")
def messages(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The command, but for the number of processes and the size."""
    need("mpicc", "mpirun")
    program = tmp_path_factory.mktemp("mpi") / "messages"
    source = repository / "scripts/experiments/mpi/messages.c"
    output_of("mpicc", "-O2", "-Wall", "-Wextra", "-Werror", source, "-o", program)
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", *SHARED_MEMORY, *NO_SINGLE_COPY, program]


def run(messages: list[object], processes: int, *arguments: object):
    return run_command(*messages[:-1], "-np", processes, messages[-1], *arguments)


@pytest.mark.parametrize("size", [65536, 1 << 20])
def test_messages_come(messages, size):
    done = run(messages, 2, size)
    assert done.returncode == 0, done
    assert re.fullmatch(r"\d+\.\d\d us a message\n", done.stdout)


@pytest.mark.parametrize(("processes", "size"), [(1, 4096), (3, 4096), (2, 0), (2, 1 << 31)])
def test_two_processes_and_a_size_are_asked_for(messages, processes, size):
    done = run(messages, processes, size)
    assert done.returncode != 0
    assert "usage: mpirun -np 2 messages SIZE" in done.stderr
