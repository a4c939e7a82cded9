#!/usr/bin/env bash
# memray does not count memory that mremap adds: its peak is 1 MiB of 256.
#
# Version: memray 1.20.0 (PyPI), CPython 3.11 or newer, Linux.
# Expected: https://bloomberg.github.io/memray/memory.html says that memray follows what a program
#   allocates and keeps, even if the pages are not resident, and its table of functions has mmap and
#   munmap. Python's mmap.resize grows such a mapping.
# Seen: `memray stats` of a program that maps 1 MiB and grows it to 256 MiB has a peak of 1 MiB.
#   The same program with a map of 256 MiB from the start has 256 MiB. The kernel's own peak of
#   resident memory is above 256 MiB in both. Growing by mremap is how large arrays avoid copies,
#   so that the better program has no memory at all in the report.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check memray==1.20.0; } ||
    { echo "cannot install the package" >&2; exit 2; }

cat >"$work/grow.py" <<'PYTHON'
import mmap
import re
import sys

MIB = 1 << 20
memory = mmap.mmap(-1, int(sys.argv[1]) * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
if len(memory) < 256 * MIB:
    memory.resize(256 * MIB)
for page in range(0, len(memory), 4096):
    memory[page] = 1
with open("/proc/self/status") as status:
    assert int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) >= 256 * 1024
PYTHON

python=$work/venv/bin/python
changed=()
try() { # MIB STATED
    local seen
    "$python" -m memray run -q -f -o "$work/recorded" "$work/grow.py" "$1"
    "$python" -m memray stats --json -f -o "$work/stats.json" "$work/recorded" >"$work/log"
    seen=$("$python" -c 'import json, sys
print(round(json.load(sys.stdin)["metadata"]["peak_memory"] / (1 << 20)))' <"$work/stats.json")
    echo "mapped $1 MiB, grown to 256 MiB: memray's peak is $seen MiB"
    [[ $seen == "$2" ]] || changed+=("$1 MiB")
}
try 1 1
try 256 256
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
