#!/usr/bin/env bash
# py-cpuinfo gives the size of the L2 cache as the size of its lines.
#
# Version: py-cpuinfo 9.0.0 (PyPI), x86-64 Linux whose kernel shows the caches in /sys.
# Expected: https://github.com/workhorsy/py-cpuinfo/blob/v9.0.0/README.rst lists
#   l2_cache_line_size among what it tells. That is 64 bytes on x86-64, as /sys and getconf say, and
#   programs pad their data and step through memory by it.
# Seen: l2_cache_line_size is the number of KiB of one core's L2 cache: 512 here, 256 or 2,048
#   elsewhere. l2_cache_associativity is the code that CPUID has for it, 6, and not the 8 ways that
#   it stands for. A loop that touches one byte of each such line skips most lines.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check py-cpuinfo==9.0.0; } ||
    { echo "cannot install the package" >&2; exit 2; }

cat >"$work/ask.py" <<'PYTHON'
import sys

import cpuinfo

LEVEL2 = "/sys/devices/system/cpu/cpu0/cache/index2/"
CODES = {2: 2, 4: 4, 6: 8, 8: 16, 10: 32, 11: 48, 12: 64, 13: 96, 14: 128}  # AMD's and Intel's


def kernel(name):
    try:
        with open(LEVEL2 + name) as file:
            return file.read().strip()
    except OSError as error:
        print(f"the kernel shows no L2 cache: {error}", file=sys.stderr)
        sys.exit(2)


size, line = kernel("size"), int(kernel("coherency_line_size"))
ways = int(kernel("ways_of_associativity"))
told = cpuinfo.get_cpu_info()
told_line, told_ways = told.get("l2_cache_line_size"), told.get("l2_cache_associativity")
print(f"kernel: L2 of {size}, lines of {line} bytes, {ways} ways")
print(f"py-cpuinfo: lines of {told_line} bytes, associativity {told_ways}")
if told_line is None:
    print("py-cpuinfo runs no CPUID here", file=sys.stderr)
    sys.exit(2)
if f"{told_line}K" != size or told_line == line or CODES.get(told_ways) != ways:
    sys.exit("changed: see above")
PYTHON
"$work/venv/bin/python" "$work/ask.py" || exit
