#!/usr/bin/env bash
# pyperf calls twice the bytes "2.00x slower", and a doubled throughput as well.
#
# Version: pyperf 2.11.0 (PyPI).
# Expected: https://pyperf.readthedocs.io/en/latest/api.html names three units of a benchmark:
#   second, byte and integer. A comparison of bytes speaks of more or less memory. Of plain
#   integers, it cannot know whether more is better, and says by how much they differ.
# Seen: `compare_to` takes every unit for a time. 20 MiB after 10 MiB are "2.00x slower", and 2,000
#   MB/s after 1,000 MB/s, given as integers, are "2.00x slower" too. With --group-by-speed the
#   faster copy stands under "Slower".
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check pyperf==2.11.0; } ||
    { echo "cannot install the package" >&2; exit 2; }

cat >"$work/write.py" <<'PYTHON'
import sys

import pyperf

path, unit, *values = sys.argv[1:]
metadata = {"name": "copy", "unit": unit}
runs = [pyperf.Run([float(v)], metadata=metadata, collect_metadata=False) for v in values]
pyperf.BenchmarkSuite([pyperf.Benchmark(runs)]).dump(path)
PYTHON
python=$work/venv/bin/python
changed=()
try() { # UNIT FACTOR STATED [OPTION]
    local seen
    rm -f "$work/before.json" "$work/after.json"
    "$python" "$work/write.py" "$work/before.json" "$1" $((1000 * $2)) $((1001 * $2)) $((1002 * $2))
    "$python" "$work/write.py" "$work/after.json" "$1" $((2000 * $2)) $((2002 * $2)) $((2004 * $2))
    seen=$("$python" -m pyperf compare_to "${@:4}" "$work/before.json" "$work/after.json" |
        grep -oE 'Slower|Faster|[0-9.]+x (slower|faster)' | paste -sd ' ')
    echo "$1 ${*:4}: $seen"
    [[ $seen == "$3" ]] || changed+=("$1")
}
try byte 10240 "2.00x slower"
try integer 1 "2.00x slower"
try integer 1 "Slower 2.00x slower" --group-by-speed
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
