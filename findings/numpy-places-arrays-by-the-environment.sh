#!/usr/bin/env bash
# How far numpy's arrays lie from each other modulo 4096 depends on the length of an unrelated
# environment variable, and is the same in each run with the same variables.
#
# Version: numpy 2.4.6 (PyPI), CPython 3.11 or newer, glibc. Seen on Linux 6.18 with glibc 2.36.
# Expected: addresses are random (ASLR), so a benchmark that starts a process for each run averages
#   over them; or a large array begins at the same offset in its page, as malloc maps it by itself.
# Seen: ASLR draws whole pages. After the first large array is freed, glibc keeps such blocks in the
#   heap, behind the strings that os.environ holds. All runs with the same variables have the same
#   offset, and one more variable, as LD_PRELOAD, gives another. A comparison of a program with and
#   without such a variable compares two placements as well, however many runs it has.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check numpy==2.4.6; } ||
    { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/crop.py" <<'PYTHON'
import numpy as np

picture = np.ones((4096, 16384), np.uint8)
for _ in range(4):  # malloc learns to keep blocks of this size with the first one that is freed
    crop = np.ascontiguousarray(picture[:, 4096:8192])
print((crop.ctypes.data - picture.ctypes.data) % 4096)
PYTHON

distances() { # VARIABLE...: of five runs with these variables alone
    for _ in 1 2 3 4 5; do
        env -i "$@" "$work/venv/bin/python" -I "$work/crop.py"
    done | sort -u | paste -sd ' '
}
long=$(printf '%02000d' 0)
without=$(distances A=1) with=$(distances "A=$long")
echo "with a short variable: $without"
echo "with a long one:       $with"
if [[ $without == *' '* || $with == *' '* || $without == "$with" ]]; then
    echo "changed: expected one distance with each, and another one" >&2
    exit 1
fi
