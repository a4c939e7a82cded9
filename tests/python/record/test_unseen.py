"""What asterope-record could not see of a command, and that it does not call that little."""

from __future__ import annotations

import pytest
from copy_programs import compiled, need_way
from record_command import read_recording

# Works for a while, in itself or in a child, without its environment or with it. HOW
LAUNCHER = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words)
{
    char *none[] = {NULL}, *again[] = {words[0], "works", NULL};
    const char *how = count > 1 ? words[1] : "";
    volatile double work = 1;
    if (!strcmp(how, "second")) {
        while (clock() < CLOCKS_PER_SEC) work = work * 1.0001 + 1;
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
        if (!strcmp(how, "child") || !strcmp(how, "ignored")) execve(words[0], again, none);
        if (!strcmp(how, "orphan") && fork()) _exit(0);
        if (!strcmp(how, "orphan")) execve(words[0], again, none);
        for (int i = 0; i < 30000000; ++i) work = work * 1.0001 + 1;
        _exit(0);
    }
    wait(NULL);
    close(ends[1]);
    while (read(ends[0], ends, 1) > 0) {}
    return 0;
}
"""


NOT_RECORDED = "were not recorded, or were killed"
SAYS = {
    **dict.fromkeys(("cleared", "child", "ignored", "orphan"), NOT_RECORDED),
    "daemon": "still running when the command ended: launcher",
    "works": "Not worth it",
}


@pytest.mark.parametrize("how", SAYS)
def test_what_was_not_seen_is_not_called_little(record, tmp_path, how: str) -> None:
    need_way(tmp_path, "cc")
    done = record("--", compiled(tmp_path / "launcher", LAUNCHER, "-O1", "-w"), how)
    said = " ".join(done.stderr.split())
    assert done.returncode == 0 and SAYS[how] in said, done
    assert ("Next: record again" in said) != ("Not worth it" in said) == (how == "works"), said
    recording = read_recording(tmp_path / "recording.json")
    assert (recording["outlived_by"] > 0) == (how == "daemon")
    assert (recording["unseen"] > 0) == (SAYS[how] == NOT_RECORDED)


def test_a_shell_and_its_children_that_end_at_once_raise_no_alarm(record, tmp_path) -> None:
    done = record("--", "sh", "-c", "for i in $(seq 60); do (:); /bin/true; echo $(echo x); done")
    assert done.returncode == 0 and "record again" not in done.stderr, done
    assert read_recording(tmp_path / "recording.json")["unseen"] == 0
