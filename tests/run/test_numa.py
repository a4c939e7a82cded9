"""A search on a made-up machine of two nodes: its buffers lie where its profile says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_errors import SHORTEST
from copy_programs import shared_library
from namespaces import run_with

pytestmark = pytest.mark.one_cpu

# Stands in for the kernel of that machine. It takes a policy for both nodes and remembers it. It
# writes down the policy, and the mappings that are as large as the search's buffers.
KERNEL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static long policy;

static void write_down(const char *what, long a, long b) {
    FILE *file = fopen(getenv("WRITTEN"), "a");
    fprintf(file, "%s %ld %ld\n", what, a, b);
    fclose(file);
}

/* These arguments are where variable ones would be. */
long syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (number == SYS_get_mempolicy) return *(int *)a = policy, 0;
    if (number == SYS_set_mempolicy) return write_down("policy", policy = a, *(long *)b), 0;
    long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d, e, f);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
    if (flags & MAP_ANONYMOUS && bytes >> 26) write_down("buffers", policy, 0);
    return real(at, bytes, protection, flags, file, offset);
}
"""
BIND, INTERLEAVE = 2, 3  # as in <linux/mempolicy.h>


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_library(tmp_path_factory.mktemp("kernel") / "kernel.so", KERNEL)


@pytest.mark.parametrize(("own", "interleaved"), [(1, False), (0, True)])
def test_buffers_lie_where_the_profile_says(
    build_dir: Path, kernel: Path, tmp_path: Path, own: int, interleaved: bool
) -> None:
    cpu = max(os.sched_getaffinity(0))
    (tmp_path / "online").write_text("0-1\n")
    for node in (0, 1):
        (tmp_path / f"node{node}").mkdir()
        (tmp_path / f"node{node}/cpulist").write_text(f"{cpu if node == own else cpu + 1}\n")
    written, profile = tmp_path / "written", tmp_path / "profile.json"
    command = [
        *(build_dir / "asterope-tune", "-o", profile, "--cpu", cpu, "--no-generate"),
        *(*SHORTEST, "--sizes", "128", "--quiet", *(["--interleave"] if interleaved else [])),
    ]
    environment = {"LD_PRELOAD": str(kernel), "WRITTEN": str(written)}
    done = run_with([(tmp_path, "/sys/devices/system/node")], command, env=environment)
    assert done.returncode == 0, done.stderr
    said = json.loads(profile.read_text())["search"]["memory_nodes"]
    assert said == ("interleaved over 2 nodes" if interleaved else f"node {own} of 2")
    first, *then = written.read_text().splitlines()
    mode, mask = (INTERLEAVE, 0b11) if interleaved else (BIND, 1 << own)
    assert first == f"policy {mode} {mask}"
    assert set(then) == {f"buffers {mode} 0"}
