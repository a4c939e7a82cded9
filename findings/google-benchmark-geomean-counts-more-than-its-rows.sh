#!/usr/bin/env bash
# compare.py's OVERALL_GEOMEAN counts benchmarks that it does not compare.
#
# Version: Google Benchmark's compare.py, libbenchmark-tools 1.7.1-1 (Debian 12), with numpy 2.4.6
#   and scipy 1.17.1 (PyPI).
# Expected: https://github.com/google/benchmark/blob/v1.7.1/docs/tools.md says that each benchmark
#   of the first run is compared with the one of the same name in the second, and left out if the
#   names differ. That page does not mention the last row, which seems to sum up the rows above
#   it. A benchmark whose time unit has changed is converted, or reported.
# Seen: each side's geometric mean is of all benchmarks in its file. One more benchmark of 1 ns in
#   the second file, beside one that stayed at 1,000 ns, makes the only row +0.0000 and
#   OVERALL_GEOMEAN -0.9684. A benchmark that became twice as slow and is now given in us has no row
#   and no warning: the exit code is 0, and only OVERALL_GEOMEAN says +0.4142.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq libbenchmark-tools=1.7.1-1 2>/dev/null &&
    dpkg -x ./*.deb root &&
    python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check numpy==2.4.6 scipy==1.17.1
) || { echo "cannot install the packages" >&2; exit 2; }

results() { # NAME TIME UNIT...: the JSON file of a run
    local separator=
    printf '{"context": {}, "benchmarks": ['
    while (($#)); do
        printf '%s{"name": "%s", "run_type": "iteration", "iterations": 1, "real_time": %s,' \
            "$separator" "$1" "$2"
        printf ' "cpu_time": %s, "time_unit": "%s"}' "$2" "$3"
        separator=,
        shift 3
    done
    printf ']}\n'
}
compare() { # of two files: names and the change of the time, without the table's head
    "$work/venv/bin/python" "$work/root/usr/share/benchmark/compare.py" --no-color benchmarks "$@" |
        awk 'NR > 3 {print $1, $2}' | paste -sd ' '
}
changed=()
try() { # NAME STATED OLD NEW
    local seen
    seen=$(compare "$3" "$4")
    echo "$1: $seen"
    [[ $seen == "$2" ]] || changed+=("$1")
}
results copy/64 1000 ns >"$work/one.json"
results copy/64 1000 ns copy/8 1 ns >"$work/two.json"
try "one more benchmark" \
    "copy/64 +0.0000 OVERALL_GEOMEAN -0.9684" "$work/one.json" "$work/two.json"
results copy/64 10 ns copy/1M 50000 ns >"$work/before.json"
results copy/64 10 ns copy/1M 100 us >"$work/after.json"
try "another time unit" \
    "copy/64 +0.0000 OVERALL_GEOMEAN +0.4142" "$work/before.json" "$work/after.json"
if ((${#changed[@]})); then
    printf 'changed: %s\n' "${changed[@]}" >&2
    exit 1
fi
