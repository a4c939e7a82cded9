"""The command asterope-record: runs, signals, errors, and costs that it must not call small."""

from __future__ import annotations

import os
import platform
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from asterope.record.command import main
from asterope.record.descendants import Descendants
from command_errors import (
    SCRIPTS,
    exit_code_of,
    finished,
    on_terminal,
    only_error_of,
    only_line_of,
    press_ctrl_c,
    wait_until,
)
from copy_programs import compiled, shared_library
from recorded_programs import COPIES, HERE, SAID, copies_in, finish, read_recording

only_error = partial(only_error_of, "asterope-record")


def test_a_run_is_recorded_by_its_name_and_its_output_is_its_own(record, program, tmp_path):
    (tmp_path / "server").symlink_to(program)
    done = record("--", tmp_path / "server")
    assert (done.returncode, done.stdout) == (0, SAID)
    assert done.stderr.startswith("server, ")
    assert "Copies take at most" in done.stderr and "from 4 KiB" in done.stderr
    recording = read_recording(tmp_path / "recording.json")
    named = recording["program"]
    assert (named["name"], named["executable"]) == ("server", str(program))
    assert (recording["complete"], recording["processes"]) == (True, 1)
    assert copies_in(recording) == COPIES
    assert 0 < recording["copies"]["share"] <= 1
    place = recording["places"][0]
    assert (Path(place["module"]), place["function"]) == (program, "main")


def test_the_file_is_named_and_that_of_another_program_stays(record, program, tmp_path) -> None:
    """Without -o; the same program's is replaced."""
    file = tmp_path / "recording.json"
    for _ in range(2):
        done = record("--", program)
        assert done.stderr.splitlines()[-1] == "asterope-record: wrote recording.json"
    first = file.read_text()
    said = only_error(record("--", "touch", "ran"), 2)
    assert f"recording.json: is the recording of another program, {program}: " in said
    assert "-o/--output: must not be empty" in only_error(record("-o", "", "--", "touch", "ran"), 2)
    assert file.read_text() == first and not (tmp_path / "ran").exists()
    done = record("-o", "recording.json", "--", "touch", "ran")
    assert done.returncode == 0 and read_recording(file)["program"]["name"] == "touch", done
    file.write_text("[" * 100_000)  # not a recording
    assert record("--", program).returncode == 0 and read_recording(file)["complete"]


def test_children_are_followed_wherever_the_recorder_lies(record, program, build_dir, tmp_path):
    """Beside other libraries. LD_PRELOAD takes no path with a blank."""
    folder = tmp_path / "with a blank: and a colon"
    folder.mkdir()
    shutil.copy(build_dir / "libasterope_record.so", folder)
    other = shared_library(tmp_path / "other.so", "int unused;\n")
    command = ("sh", "-c", f'echo "$LD_PRELOAD"; {program} & {program}; wait')
    done = record("--", *command, LD_PRELOAD=other, ASTEROPE_BUILD_DIR=folder)
    assert done.stdout.splitlines()[0].endswith(f".so:{other}"), done
    recording = read_recording(tmp_path / "recording.json")
    assert copies_in(recording) == 2 * COPIES
    assert recording["processes"] >= 3


# Strict seccomp, and then the end of Python, or what that forbids before it.
STRICT = "exec python3 -c 'import ctypes, os; ctypes.CDLL(None).prctl(22, 1, 0, 0, 0){}'"
SANDBOX = ", as it restricts itself (seccomp)"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("exit 3", "failed with exit code 3"),
        ("kill -9 $$", "was killed by SIGKILL"),
        ("kill -SYS $$", f"was killed by SIGSYS{SANDBOX}"),
        (STRICT.format(""), SANDBOX),
        (STRICT.format("; os.getppid()"), SANDBOX),
    ],
)
def test_a_command_that_fails_is_recorded_all_the_same(record, tmp_path, command, says) -> None:
    done = record("--", "bash", "-c", command)
    assert done.returncode == 1
    assert says in done.stderr.splitlines()[-1]
    recording = read_recording(tmp_path / "recording.json")
    assert recording["complete"] is True
    assert any(says in warning for warning in recording["warnings"])


RAW_EXIT = """
#include <string.h>
#include <time.h>
int main(void)
{
    static char from[65536], to[65536];
    for (int i = 0; i < 50; ++i) memcpy(to, from, sizeof to);
    const clock_t start = clock();
    while (clock() - start < CLOCKS_PER_SEC / 5) {}
    END
}
"""
ENDS = {
    "a system call": '__asm__ volatile("syscall" : : "a"(231L), "D"(0L) : "rcx", "r11");',
    "a signal": "raise(SIGKILL);",
}
BELOW = ("sh -c '{}; exit 0'", "python3 -c 'import subprocess; subprocess.call([\"{}\"])'")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64")
@pytest.mark.parametrize("below", BELOW, ids=["a shell", "Python"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_end_of_a_process_is_known_from_who_waits_for_it(
    settings, tmp_path, end: str, below: str
) -> None:
    """A look would come too late: the process has ended by then."""
    text = "#include <signal.h>" + RAW_EXIT.replace("END", end)
    program = compiled(tmp_path / "ends", text, "-O1", "-fno-builtin")
    code = (
        "from asterope.record import command, descendants; "
        "descendants.Descendants.look = lambda self: None; command.main()"
    )
    its = settings("--", *shlex.split(below.format(program)))
    its["args"] = [its["args"][0], "-c", code, *its["args"][its["args"].index("record") + 1 :]]
    done = finished(its)
    assert done.returncode == 0 and "were not recorded" not in done.stderr, done
    recording = read_recording(tmp_path / "recording.json")
    assert recording["unseen"] == recording["unnoted"] == 0
    assert recording["cpu_seconds"] > 0.2 and "Next: record again" not in done.stderr


def test_without_pyelftools_functions_have_no_names_which_is_said(record, program, tmp_path):
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "elftools.py").touch()  # no package: what is below it is not there
    done = record("--", program, PYTHONPATH=f"{tmp_path / 'absent'}:{SCRIPTS}")
    assert done.returncode == 0 and "functions are not named" in done.stderr, done
    assert {p["function"] for p in read_recording(tmp_path / "recording.json")["places"]} == {""}


def test_a_snapshot_is_taken_while_the_program_goes_on(start, tmp_path) -> None:
    process = start()
    process.send_signal(signal.SIGUSR2)
    wait_until((tmp_path / "recording.json").exists, "a recording is there")
    recording = read_recording(tmp_path / "recording.json")
    assert recording["complete"] is False
    assert copies_in(recording) == COPIES
    code, said = finish(process)
    assert code == 0 and "the command goes on" in said
    assert read_recording(tmp_path / "recording.json")["complete"] is True


def test_after_the_duration_the_program_goes_on_unrecorded(start, tmp_path) -> None:
    process = start("--duration", "0.1s", code=5)
    wait_until(lambda: not list((tmp_path / "tmp").iterdir()), "its folder is gone")
    assert process.poll() is None
    recording = read_recording(tmp_path / "recording.json")
    assert recording["complete"] is False
    code, said = finish(process)
    assert code == 1  # what became of the command counts
    assert "recorded for 0.1 s" in said
    assert said.endswith("asterope-record: the command failed with exit code 5\n")
    assert read_recording(tmp_path / "recording.json") == recording


def test_a_signal_for_it_alone_is_sent_on(start, tmp_path) -> None:
    process = start()
    process.send_signal(signal.SIGTERM)
    held, process.stdin = process.stdin, None  # open: the program has no other reason to end
    assert process.wait(timeout=60) == 1
    held.close()
    assert "killed by SIGTERM" in process.stderr.read()
    assert copies_in(read_recording(tmp_path / "recording.json")) == COPIES
    assert list((tmp_path / "tmp").iterdir()) == []


def test_ctrl_c_reaches_the_program_and_the_recording_is_written(settings, program, tmp_path):
    its = settings("--", program, COPIES, 0, "wait")
    code, shown = on_terminal(its["args"], "took 3\r\n", press_ctrl_c, its["cwd"], its["env"])
    assert code == 1 and "killed by SIGINT" in shown
    assert copies_in(read_recording(tmp_path / "recording.json")) == COPIES


def test_where_the_disk_is_full_the_answer_is_shown(record, program) -> None:
    done = record("-o", "/dev/full", "--", program)
    assert done.returncode == 1 and "Copies take at most" in done.stderr
    assert "No space left" in done.stderr.splitlines()[-1]


def test_where_the_disk_is_full_after_the_duration_the_answer_is_shown_at_once(start, tmp_path):
    process = start("-o", "/dev/full", "--duration", "0.1s")
    wait_until(lambda: not list((tmp_path / "tmp").iterdir()), "its folder is gone")
    shown = [process.stderr.readline()]
    while not shown[-1].startswith("asterope-record: "):
        shown.append(process.stderr.readline())
    assert process.poll() is None and any("Copies take at most" in line for line in shown)
    assert "recorded for 0.1 s: /dev/full: cannot write: No space left on device; " in shown[-1]
    code, said = finish(process)
    assert code == 1
    assert said == "asterope-record: /dev/full: cannot write: No space left on device\n"


@pytest.mark.parametrize("folder", [b"\xff", b"/".join([b"f" * 200] * 6)])
def test_a_program_of_any_name_may_record_again(record, program, tmp_path, folder: bytes) -> None:
    """Of bytes that are not text, and a long one."""
    its = tmp_path / os.fsdecode(folder) / "program"
    its.parent.mkdir(parents=True)
    shutil.copy(program, its)
    for _ in range(2):
        assert record("--", its).returncode == 0


def test_where_there_is_no_room_for_a_recording_the_program_does_not_run(settings, program) -> None:
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1000, 1000))
    done = finished({**settings("--", program), "preexec_fn": limit})
    assert "recording.json: cannot write: " in only_error(done, 1) and done.stdout == ""


@pytest.mark.parametrize(
    "where", ["2>/dev/full", "2>&-", ">/dev/full 2>&1", "2>&1 >/dev/null | head -1"]
)
def test_what_cannot_be_shown_is_no_failure(settings, program, tmp_path, where: str) -> None:
    its = settings("--", program)
    line = f"{shlex.join(its['args'])} {where}; exit ${{PIPESTATUS[0]}}"
    done = finished({**its, "args": ["bash", "-c", line]})
    assert done.returncode == 0, done
    assert "Copies take at most" not in done.stdout
    assert copies_in(read_recording(tmp_path / "recording.json")) == COPIES


def test_what_a_killed_recorder_leaves_the_next_one_removes(start, tmp_path) -> None:
    killed, alive = start(), start("-o", "r.json")
    assert len(list((tmp_path / "tmp").iterdir())) == 2
    killed.kill()
    killed.wait()
    unstarted = tmp_path / "tmp" / "asterope-record-x"
    unstarted.mkdir()
    third = start("-o", "third.json")
    left = list((tmp_path / "tmp").iterdir())
    assert len(left) == 3 and unstarted in left
    unstarted.rmdir()
    for process in (alive, third):
        assert finish(process)[0] == 0
    assert list((tmp_path / "tmp").iterdir()) == []
    assert copies_in(read_recording(tmp_path / "r.json")) == COPIES


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no command"),
        (["ls"], "behind --"),
        (["--", "{}"], "linked statically"),
        (["--duration", "60", "--", "ls"], "90s, 10m"),
        (["-o", "/", "--", "ls"], "a folder"),
    ],
)
def test_bad_arguments_get_one_line(
    build_dir, libraries, arguments: list[str], says: str, capsys, monkeypatch
) -> None:
    monkeypatch.setenv("ASTEROPE_BUILD_DIR", str(build_dir))
    static = libraries / "static"
    assert exit_code_of(main, *(one.format(static) for one in arguments)) == 2
    assert says in only_line_of("asterope-record", capsys)


def test_a_recorder_that_is_not_there_is_told(record, tmp_path) -> None:
    said = only_error(record("--", "ls", ASTEROPE_BUILD_DIR=str(tmp_path)), 1)
    assert "libasterope_record.so is not there" in said


def test_a_static_child_is_named(tmp_path, libraries) -> None:
    static, pipes = libraries / "static", {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([static, "1", "0", "wait"], **pipes, text=True) as child:
        assert child.stdout.readline() == SAID
        descendants = Descendants(tmp_path)
        descendants.look()
        descendants.look()
        child.stdin.close()
    (warning,) = descendants.warnings()
    assert str(static) in warning and "linked statically" in warning


# Works for a while, in itself or in a child, without its environment or with it. HOW
LAUNCHER = r"""
#define _GNU_SOURCE
#include "restrictions.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

int main(int count, char **words)
{
    char *none[] = {NULL}, *again[] = {words[0], "works", NULL};
    const char *how = words[1];
    volatile double work = 1;
    give_up(how);
    if (!strcmp(how, "second") || !strcmp(how, "exits") || !strcmp(how, "restricted")) {
        while (clock() < CLOCKS_PER_SEC / (*how == 'e' ? 2 : 1)) work = work * 1.0001 + 1;
        if (*how == 'e') end_without_libc();
        return 0;
    }
    if (!strcmp(how, "ignored")) {
        signal(SIGCHLD, SIG_IGN);
        again[1] = "second";
    }
    if (!strcmp(how, "cleared")) execve(words[0], again, none);
    if (!strcmp(how, "daemon")) {
        if (daemon(1, 0)) return 1;
        alarm(20);
        pause();
    }
    int ends[2]; /* closed when the last descendant has ended */
    if (pipe(ends)) return 1;
    if (fork() == 0) {
        if (!strcmp(how, "orphan") && fork()) _exit(0);
        if (strcmp(how, "works")) execve(words[0], again, none);
        for (int i = 0; i < 30000000; ++i) work = work * 1.0001 + 1;
        _exit(0);
    }
    wait(NULL);
    close(ends[1]);
    while (read(ends[0], ends, 1) > 0) {}
    return 0;
}
"""
NOT_RECORDED = "is of processes that were not recorded"
SAYS = {
    **dict.fromkeys(("cleared", "child", "ignored", "orphan"), NOT_RECORDED),
    "daemon": "still running when the command ended: launcher",
    "works": "Not worth it",
    "exits": "Not worth it",
    "restricted": "Not worth it",
}


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("launcher")
    return compiled(folder / "target", LAUNCHER, "-O1", "-w", f"-I{HERE}")


@pytest.mark.parametrize("how", SAYS)
def test_what_was_not_seen_is_not_called_little(record, launcher, tmp_path, how: str) -> None:
    (tmp_path / "launcher").symlink_to(launcher)
    done = record("--", tmp_path / "launcher", how)
    said = " ".join(done.stderr.split())
    assert done.returncode == 0 and SAYS[how] in said, done
    assert (
        ("Next: record again" in said) != ("Not worth it" in said) == (SAYS[how] == "Not worth it")
    ), said
    recording = read_recording(tmp_path / "recording.json")
    assert (recording["outlived_by"] > 0) == (how == "daemon")
    assert (recording["unseen"] > 0) == (SAYS[how] == NOT_RECORDED)


def test_time_after_the_last_word_of_a_process_is_told_as_such(record, launcher, tmp_path) -> None:
    """Where its parent waits by a function that does not say what it took."""
    begins = f"os.posix_spawn({str(launcher)!r}, ['launcher', 'exits'], os.environ)"
    code = f"import os; os.waitid(os.P_PID, {begins}, os.WEXITED)"
    done = record("--", sys.executable, "-c", code)
    recording = read_recording(tmp_path / "recording.json")
    assert recording["unnoted"] == 1
    said = " ".join(done.stderr.split())
    assert ("one that ended without noting its time" in said) == (recording["unseen"] > 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up its rights")
def test_where_workers_of_another_user_may_make_no_file_that_is_said(record, tmp_path) -> None:
    (tmp_path / "closed").mkdir(0o700)
    workers = "import os; os.setuid(65534); os.fork() and os.wait()"
    done = record("--", sys.executable, "-c", workers, TMPDIR=tmp_path / "closed")
    said = " ".join(done.stderr.split())
    assert ": other users may not enter it: have TMPDIR name a folder that other users" in said
    assert "Next: record again, and have TMPDIR name" in said


def test_what_short_children_left_is_given_back_while_others_run(record, tmp_path) -> None:
    loop = "for i in $(seq 60); do /bin/true; done; sleep 1; ls $ASTEROPE_RECORD | wc -l"
    done = record("--", "sh", "-c", loop)
    assert 0 < int(done.stdout) < 20, done
    assert read_recording(tmp_path / "recording.json")["processes"] > 60


def test_a_shell_and_its_children_that_end_at_once_raise_no_alarm(record, tmp_path) -> None:
    done = record("--", "sh", "-c", "for i in $(seq 60); do (:); /bin/true; echo $(echo x); done")
    assert done.returncode == 0 and "record again" not in done.stderr, done
    assert read_recording(tmp_path / "recording.json")["unseen"] == 0
