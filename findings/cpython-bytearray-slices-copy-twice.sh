#!/usr/bin/env bash
# CPython writes bytes or a memoryview into a slice of a bytearray by way of a second copy of them.
#
# Version: CPython 3.11.7 (python3 in PATH), its standard library alone.
# Expected: the C API's buffer protocol is there to reach data without a copy, and the slice keeps
#   its length. So buffer[i:j] = data copies once, as memoryview(buffer)[i:j] = data does.
# Seen: of all sources but a bytearray, bytearray_ass_subscript first makes a bytearray of the
#   source's size: 16 MiB that are written into a slice need 16 MiB more, in new memory that page
#   faults. By way of a memoryview of the target, or from a bytearray, nothing more is needed. The
#   times go to stderr.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cat >"$work/slices.py" <<'PYTHON'
import sys
import time
import tracemalloc

MIB = 1 << 20
data, buffer = bytes(16 * MIB), bytearray(64 * MIB)


def write(target, source):
    """How much more memory that needs, in MiB, and the best time of 20, in ms."""
    tracemalloc.start()
    target[0 : 16 * MIB] = source
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        target[0 : 16 * MIB] = source
        times.append(time.perf_counter() - begun)
    return round(peak / MIB), 1000 * min(times)


print(f"Python {sys.version.split()[0]}", file=sys.stderr)
for name, target, source in (
    ("a slice from bytes", buffer, data),
    ("a slice from a memoryview", buffer, memoryview(data)),
    ("a slice from a bytearray", buffer, bytearray(data)),
    ("a memoryview's slice from bytes", memoryview(buffer), data),
):
    more, took = write(target, source)
    print(f"{name}: {more} MiB more")
    print(f"{name}: {took:.1f} ms", file=sys.stderr)
PYTHON

seen=$(python3 "$work/slices.py")
echo "$seen"
expected="a slice from bytes: 16 MiB more
a slice from a memoryview: 16 MiB more
a slice from a bytearray: 0 MiB more
a memoryview's slice from bytes: 0 MiB more"
if [[ $seen != "$expected" ]]; then
    echo "changed: expected 16, 16, 0 and 0 MiB" >&2
    exit 1
fi
