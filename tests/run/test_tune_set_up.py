"""scripts/tune while it builds: the line that moves, what is installed, whose checkout it is."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from command_errors import on_terminal, run_command
from namespaces import run_with
from tune_checkout import Checkout, only_line

# --- The line that moves while it builds ----------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "seconds", "line"),
    [
        ("", 7, "7 s"),
        ("[1/158] a\n[2/158] b\n", 5, "[2/158]"),
        ("[39/158] a\n[40/158] b\n    [99/100] c", 20, "[40/158], about 59 s left"),
        ("[  9%] a\n[ 50%] Built\n", 30, "[ 50%], about 30 s left"),
        ("[  9%] a\n", 1, "[  9%]"),
    ],
)
def test_the_progress_of_a_step_is_read_from_what_it_prints(
    bare: Checkout, output: str, seconds: int, line: str
) -> None:
    script = f". {bare.scripts}/setup.sh; progress_of {seconds}"
    done = run_command("bash", "-euc", script, input=output)
    assert (done.returncode, done.stdout) == (0, line), done


def watched(checkout: Checkout, act: Callable[[int], object]) -> tuple[int, str]:
    """Runs scripts/tune at a terminal, whose build goes on until a file is there. `act` gets the
    terminal once it shows the build's progress."""
    checkout.set_up(
        "build_targets() { echo '[30/40] Compiling'; "
        'until [[ -e "$root/go" ]]; do sleep 0.05; done; }'
    )
    return on_terminal(
        [checkout.scripts / "tune"],
        lambda shown, terminal: "[30/40]" in shown and act(terminal),
        env=checkout.environment,
    )


def test_where_somebody_watches_the_line_of_a_step_moves(checkout: Checkout) -> None:
    code, shown = watched(checkout, lambda _: (checkout.root / "go").touch())
    assert code == 0, shown
    assert "\r\033[Kbuilding asterope-tune ... [30/40]" in shown
    assert re.search(r"\r\033\[Kbuilding asterope-tune \.\.\. \d+ s\r\n", shown)
    assert "[30/40] Compiling\n" in (checkout.root / "build" / "setup.log").read_text()


def test_ctrl_c_ends_a_step_that_is_watched_with_130(checkout: Checkout) -> None:
    code, shown = watched(checkout, lambda terminal: os.write(terminal, b"\x03"))
    assert code == 130, shown
    assert checkout.searches() == 0


# --- A checkout of somebody else's ----------------------------------------------------------------


def become_nobody() -> None:
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_a_checkout_of_somebody_else_gets_one_line(repository: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's folders are private
        os.chmod(folder, 0o755)
        readable = Checkout(repository, Path(folder))
        done = readable.run("--rigor", "quick", preexec_fn=become_nobody, cwd="/")
        assert f"{readable.root} cannot be written, it belongs to root" in only_line(done)
        assert [path.name for path in readable.root.iterdir()] == ["scripts"]


def test_a_repository_that_git_does_not_trust_gets_one_line(checkout: Checkout) -> None:
    checkout.set_up(
        "configure() { printf 'fatal: detected dubious ownership in repository at %s\\n' a b; "
        "false; }"
    )
    done = checkout.run()
    assert done.returncode == 1
    _plan, titles, message = done.stderr.splitlines()
    assert titles == "configuring ... failed"
    assert message.startswith("scripts/tune: git trusts no repository of another user")


def test_ones_own_read_only_checkout_needs_another_place(bare: Checkout) -> None:
    root = shlex.quote(str(bare.root))
    read_only = f"mount --bind {root} {root}; mount -o remount,bind,ro {root}"
    message = only_line(run_with([], [bare.root / "scripts/tune"], read_only))
    assert "cannot be written, though it is yours" in message and "as that user" not in message
