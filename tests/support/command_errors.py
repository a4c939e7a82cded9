"""Runs a command. Checks a rule for all commands: an error is one line, in the program's name."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import asterope
import jsonschema
import pytest

SCRIPTS = str(Path(asterope.__file__).parents[1])
# asterope-tune's options for its shortest search: copies alone, as memset takes as long again, and
# without the many small copies of AVX, which take most of the time.
SHORTEST = (
    *("--rigor", "quick", "--operations", "memcpy", "--workload", "hot", "--space", "paper"),
    *("--without", "avx2,avx512,sensing"),
)


def run_command(program: Path, *arguments: object, **settings: object):
    """Runs it to its end. `stderr` is then without warnings, which depend on how quiet the machine
    is; `all_stderr` has them."""
    command = [str(argument) for argument in (program, *arguments)]
    settings = {"capture_output": True, "text": True, "timeout": 180, **settings}
    done = subprocess.run(command, **settings)
    done.all_stderr, done.stderr = done.stderr, without_warnings(done.stderr)
    return done


def python_settings(folder: Path, *words: object, **environment: object) -> dict[str, Any]:
    """Arguments of Popen and run that start Python with these words in a folder. It finds the
    package, and temporary files go to the folder's tmp."""
    (folder / "tmp").mkdir(exist_ok=True)
    changed = {"PYTHONPATH": SCRIPTS, "TMPDIR": folder / "tmp", **environment}
    return {
        "args": [sys.executable, *map(str, words)],
        "env": {**os.environ, **{name: str(value) for name, value in changed.items()}},
        "cwd": folder,
        "text": True,
        **dict.fromkeys(("stdout", "stderr"), subprocess.PIPE),
    }


def finished(settings: dict[str, Any], timeout: float = 300) -> subprocess.CompletedProcess:
    """Runs such a command to its end; no temporary file is left behind then."""
    done = subprocess.run(**settings, timeout=timeout)
    assert list((settings["cwd"] / "tmp").iterdir()) == []
    return done


def read_json(path: Path, schema: str) -> dict[str, Any]:
    """A file that a command wrote, which must be as its schema says."""
    found = json.loads(path.read_text())
    described = json.loads(Path(SCRIPTS, "asterope", f"{schema}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(described)
    jsonschema.validate(found, described)
    return found


def json_lines(log: Path) -> list[dict[str, Any]]:
    """The lines of a sample log, header first; each must be whole."""
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def without_warnings(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not re.match(r"(asterope-\w+: )?warning: ", line))


def only_error_of(program: str, done: subprocess.CompletedProcess, code: int) -> str:
    """The one line on stderr that explains the exit code."""
    assert done.returncode == code, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done
    assert lines[0].startswith(f"{program}: ")
    assert lines[0].isprintable()
    return lines[0]


tune_error = partial(only_error_of, "asterope-tune")


def interrupted(
    command: Sequence[object],
    ready: Callable[[subprocess.Popen], object],
    number: int = signal.SIGINT,
    **settings: object,
) -> subprocess.CompletedProcess:
    """Sends the signal when `ready` returns anything but False (None counts as ready), and waits
    for the end."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
    with subprocess.Popen([str(part) for part in command], **settings) as process:
        try:
            while ready(process) is False and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    code = process.returncode
    return subprocess.CompletedProcess(command, code, stdout, without_warnings(stderr or ""))


def on_terminal(
    command: Sequence[object],
    cue: str = "",
    act: Callable[[int], object] = lambda terminal: None,
    cwd: Path = Path(),
    env: Mapping[str, str] = os.environ,
) -> tuple[int, str]:
    """Runs it at a terminal. `act` gets the terminal, once, when the cue has been shown. (A Ctrl-C
    is shown, too: one for all that is shown had no end, and killed bash.) Returns the exit code and
    what was shown."""
    process, terminal = pty.fork()
    if process == 0:
        try:
            os.chdir(cwd)
            os.execve(command[0], [str(part) for part in command], env)
        finally:  # no second pytest goes on here
            os._exit(127)
    shown = ""
    with contextlib.suppress(OSError):  # what a terminal gives whose other end is closed
        while text := os.read(terminal, 4096).decode():
            due = cue not in shown
            shown += text
            if due and cue in shown:
                act(terminal)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown


def press_ctrl_c(terminal: int) -> int:
    return os.write(terminal, b"\x03")


def script(path: Path, text: str) -> Path:
    """A file of that text that may be run."""
    path.write_text(text)
    path.chmod(0o755)
    return path


def wait_until(condition: Callable[[], object], what: object) -> None:
    """For how long to wait, not for what comes out."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail(f"not so within a minute: {what}")


def alive(process: object) -> bool:
    """Dead ones whose parent has not waited for them do not count."""
    try:
        return not re.search(r"\nState:\t[ZX]", Path(f"/proc/{process}/status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return False


def assert_gone(processes: Sequence[object]) -> None:
    """Each of them ends, which may take a moment beside other work."""
    wait_until(lambda: not any(map(alive, processes)), f"{processes} have ended")


def exit_code_of(main: Callable[[list[str]], int], *arguments: object) -> int:
    """The exit code of a Python command, called in the tests' own process."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as left:  # as argparse leaves
        return left.code


def only_line_of(program: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr that such a command printed; stdout is empty."""
    stdout, stderr = capsys.readouterr()
    assert (stdout, stderr[-1:]) == ("", "\n")
    assert stderr.startswith(f"{program}: ")
    assert stderr[:-1].isprintable()
    return stderr


def make_device(path: Path) -> Path:
    """A node of our own that swallows what is written into it, as /dev/null does."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_bytes(b"x")
    except OSError as error:
        pytest.skip(f"cannot make a device node: {error.strerror}")
    return path
