#!/usr/bin/env bash
# numpy's huge page advice makes ndarray.resize copy the array instead of moving its pages.
#
# Version: numpy 2.4.6 (PyPI), CPython 3.11 or newer, glibc, a Linux with transparent huge pages.
#   Seen on Linux 6.18 with glibc 2.36.
# Expected: https://numpy.org/doc/stable/reference/global_state.html says that the advice
#   (NUMPY_MADVISE_HUGEPAGE, on by default) makes large arrays faster. Growing one calls realloc,
#   and glibc moves large blocks with mremap: no byte is copied, and memory never holds the array
#   twice.
# Seen: the advice begins at the first whole page behind malloc's header. The block then consists of
#   two mappings, mremap refuses to grow across both with EFAULT, and glibc allocates, copies and
#   frees. The peak of memory is twice the array, and the grown array has lost the advice. With
#   NUMPY_MADVISE_HUGEPAGE=0 the pages are moved, and the peak stays at one array.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check numpy==2.4.6; } ||
    { echo "cannot install the packages" >&2; exit 2; }
if [[ ! -e /sys/kernel/mm/transparent_hugepage/enabled ]]; then
    echo "this kernel has no transparent huge pages" >&2
    exit 2
fi

cat >"$work/grow.py" <<'PYTHON'
import re

import numpy as np

MIB = 1 << 20


def peak():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) // 1024


def advised(array):
    """How much of the array's memory is advised, in MiB."""
    start, total, inside = array.__array_interface__["data"][0], 0, 0
    end = start + array.nbytes
    with open("/proc/self/smaps") as maps:
        for line in maps:
            if bounds := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
                low, high = (int(bound, 16) for bound in bounds.groups())
                inside = max(0, min(high, end) - max(low, start))
            elif line.startswith("VmFlags:") and "hg" in line.split():
                total += inside
    return round(total / MIB)


array = np.ones(256 * MIB, np.uint8)
before, had = peak(), advised(array)
array.resize(257 * MIB, refcheck=False)
assert array[0] == 1 and array[256 * MIB - 1] == 1
print("copied" if peak() - before > 200 else "moved", had, advised(array))
PYTHON

with=$(NUMPY_MADVISE_HUGEPAGE=1 "$work/venv/bin/python" "$work/grow.py")
without=$(NUMPY_MADVISE_HUGEPAGE=0 "$work/venv/bin/python" "$work/grow.py")
echo "with the advice:    $with (how; MiB advised before and after)"
echo "without the advice: $without"
if [[ $with != "copied 256 0" || $without != "moved 0 0" ]]; then
    echo "changed: expected 'copied 256 0' with the advice, 'moved 0 0' without" >&2
    exit 1
fi
