"""asterope-prove of whole runs that are ended early, on terminals, and of servers with clients."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from asterope.prove.copies import LIBC
from command_errors import alive, assert_gone, on_terminal, wait_until
from prove_command import REGEX, SAY, interrupted_output, only_error, rows_of

# --- Interrupts and terminals ---------------------------------------------------------------------


def children_of(process: subprocess.Popen) -> list[int]:
    of = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in of.read_text().split()]


def test_an_interrupt_prints_what_is_known_and_ends_the_command(command, tmp_path) -> None:
    """Eight rounds, then one run that would go on for ever, with a child that would, too."""
    hang = f"echo x >>runs; [ $(wc -l <runs) -gt 27 ] && {{ echo $$ >pid; sleep 1000; }}; {SAY}"
    asked = ("--rounds", "1000", "--metric", REGEX, "--json", "out.json")
    children: list[int] = []

    def its_last_run_began(process: subprocess.Popen) -> bool:
        children[:] = children_of(process)
        return (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != ""

    settings = command(*asked, "--", "sh", "-c", hang)
    stdout = interrupted_output(settings, its_last_run_began, signal.SIGTERM)
    assert "8 rounds of 3 copies" in stdout and "; interrupted." in stdout
    assert "faster: 100.0 %" in stdout
    assert json.loads((tmp_path / "out.json").read_text())["stopped_by"] == "interrupt"
    assert children and not any(map(alive, children))
    assert list((tmp_path / "tmp").iterdir()) == []


# Leaves something that is in no group of its, and goes on for ever itself; where is the folder?
LEAVES = "setsid sleep 1000 & echo $! $$ {folder} >said; sleep 1000"


@pytest.mark.parametrize(
    "kill",
    [
        lambda process: process.kill(),
        lambda process: os.kill(*children_of(process), signal.SIGKILL),
        lambda process: os.killpg(process.pid, signal.SIGKILL),
        lambda process: process.send_signal(signal.SIGHUP),
    ],
    ids=["SIGKILL", "SIGKILL of its child", "SIGKILL of its group", "SIGHUP"],
)
def test_however_it_ends_it_leaves_neither_processes_nor_files(command, tmp_path, kill) -> None:
    process = subprocess.Popen(**command("--", "sh", "-c", LEAVES), start_new_session=True)
    said = tmp_path / "said"
    try:
        wait_until(lambda: said.exists() and said.read_text().endswith("\n"), "it runs")
        kill(process)
    finally:
        _, stderr = process.communicate(timeout=120)
    *pids, folder = said.read_text().split()
    assert_gone(pids)
    assert Path(folder).is_relative_to(tmp_path / "tmp")
    wait_until(lambda: not list((tmp_path / "tmp").iterdir()), "its folder is gone")
    assert re.fullmatch("asterope-prove: (interrupted|was ended by SIGKILL)\n", stderr)


def test_what_left_the_group_of_a_run_ends_with_the_run(prove, tmp_path: Path) -> None:
    """Each run looks whether that of the one before it still lives."""
    look = "[ -e pid ] && kill -0 $(cat pid) 2>>killed && echo lives >>alive; "
    leave = "(setsid sh -c 'echo $$ >pid; exec sleep 1000' &); while ! [ -s pid ]; do :; done; "
    run = f"{look}rm -f pid; {leave}{SAY}"
    done = prove("--metric", REGEX, "--rounds", "6", "--", "sh", "-c", run)
    assert done.returncode == 0, done
    assert not (tmp_path / "alive").exists() and (tmp_path / "killed").exists()
    assert not alive(int((tmp_path / "pid").read_text()))


def test_progress_is_shown_on_a_terminal_only(command, tmp_path: Path) -> None:
    its = command("--rounds", "8", "--metric", REGEX, "--", "sh", "-c", SAY)
    line = f"{shlex.join(its['args'])} >out"
    code, said = on_terminal(["/bin/sh", "-c", line], cwd=tmp_path, env=its["env"])
    assert code == 0 and "first run 1 of 3, which is not counted: libc" in said
    assert re.search(r"round 7, known to 0\.0 %, about \d+ s left", said)
    assert said.endswith("\r\033[K")
    assert "round 7" not in (tmp_path / "out").read_text()


# --- Servers --------------------------------------------------------------------------------------

# The beginning of both: an address, and a socket for it.
ENDPOINT = """
import os, socket, sys
unix = not sys.argv[1].isdecimal()
address = sys.argv[1] if unix else ("127.0.0.1", int(sys.argv[1]))
endpoint = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
"""
# Says who it is to each that connects: under which library it runs, and its process id.
SERVER = """
endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
endpoint.bind(address)
endpoint.listen()
preload = os.environ.get("LD_PRELOAD", "")
while True:
    connection, _ = endpoint.accept()
    took = 50 if "fast" in preload else 100
    try:
        connection.sendall(f"took {took} in process {os.getpid()}".encode())
    except OSError:  # who only looked whether somebody listens is gone
        continue
    finally:
        connection.close()
    if "%s" in preload:
        sys.exit("cannot go on")
"""
CLIENT = """
assert "LD_PRELOAD" not in os.environ
endpoint.connect(address)
said = endpoint.recv(1000).decode()
print(said)
open("said", "a").write(said + chr(10))
"""


@pytest.fixture
def parties(tmp_path: Path) -> Callable[..., list[str]]:
    """The arguments for a server and its client; the first library whose name holds `dies` has the
    server end."""

    def arguments(where: str, dies: str = "nothing") -> list[str]:
        (tmp_path / "server.py").write_text(ENDPOINT + SERVER % dies)
        (tmp_path / "client.py").write_text(ENDPOINT + CLIENT)
        client = f"{sys.executable} client.py {where}"
        return ["--client", client, "--", sys.executable, "server.py", where]

    return arguments


@pytest.mark.parametrize("where", ["{port}", "{socket}", "{folder}/s"])
def test_a_server_of_each_copy_stays_and_is_asked(prove, parties, tmp_path, where: str) -> None:
    done = prove("--metric", REGEX, *parties(where))
    assert (done.returncode, done.stderr) == (0, "")
    assert rows_of(done)[LIBC] == "100" and "faster: 100.0 %" in rows_of(done)["fast"]
    asked = re.findall(r"process (\d+)\n", (tmp_path / "said").read_text())
    assert (len(set(asked)), len(asked)) == (3, 3 * 7)
    assert not any(map(alive, asked))


# Of server and client, how one goes wrong; "" stands for a good one.
WRONG = {
    "a server that ends": ("", "fast", "under fast: ", "exit code 1: cannot go on"),
    "a server that never starts": (
        *("sh -c 'echo no room >&2; exit 3' sh {port}", "", "under libc: sh "),
        "exit code 3: no room",
    ),
    "a server without the library": (
        *(f"env -i {sys.executable} server.py {{port}}", "", "under fast: env "),
        "runs without fast.so: its environment was cleared",
    ),
    "a client": ("", "sh -c 'echo cannot ask >&2; exit 2'", "under libc: sh ", "2: cannot ask"),
}


@pytest.mark.parametrize(("server", "client", "who", "said"), WRONG.values(), ids=WRONG)
def test_a_party_that_goes_wrong_is_named(prove, parties, server, client, who, said) -> None:
    dies = client if client == "fast" else "nothing"
    _, good_client, _, *good_server = parties("{port}", dies)
    client = good_client if client in ("", "fast") else client
    asked = ("--client", client, "--", *(shlex.split(server) or good_server))
    message = only_error(prove("--metric", REGEX, *asked), 1)
    assert who in message and said in message


def test_a_client_may_be_static(prove, libraries: Path) -> None:
    server = (sys.executable, "-c", "import time; time.sleep(1000)")
    done = prove("--metric", REGEX, "--client", libraries / "static", "--", *server)
    assert (done.returncode, rows_of(done)[LIBC]) == (0, "3"), done


def test_a_deep_folder_for_temporary_files_leaves_no_room_for_a_socket(prove, parties, tmp_path):
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    message = only_error(prove(*parties("{socket}"), TMPDIR=str(deep)), 1)
    assert "too long for a socket's path: set TMPDIR to a short one" in message
