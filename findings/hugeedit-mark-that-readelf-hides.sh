#!/usr/bin/env bash
# readelf, pyelftools' readelf.py and LIEF hide the mark that hugeedit sets for huge pages.
#
# Version: libhugetlbfs-bin 2.23-5 (Debian 12), pyelftools 0.33 and lief 1.0.0 (PyPI). Seen with GNU
#   binutils 2.40, which is the machine's own here.
# Expected: https://manpages.debian.org/bookworm/libhugetlbfs-bin/hugeedit.7.en.html says that
#   hugeedit sets bits in the ELF header, which say what segments get huge pages: bit 20 of
#   p_flags. A tool that lists segment flags shows a bit that it does not know, or says so.
# Seen: `readelf -lW`, pyelftools' readelf.py and LIEF's Segment.flags give marked and unmarked
#   segments the same flags, "R E" and "RW" or 5 and 6. Even the integer of LIEF's flags lacks the
#   bit. `objdump -p`, p_flags of pyelftools and LIEF's raw_flags have 0x100000. Two programs that
#   differ in it look the same.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq libhugetlbfs-bin=2.23-5 libhugetlbfs0=2.23-5 2>/dev/null &&
    for package in *.deb; do dpkg -x "$package" root; done &&
    python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check pyelftools==0.33 lief==1.0.0
) || { echo "cannot install the packages" >&2; exit 2; }

echo 'int main(void) { return 0; }' >"$work/program.c"
cc -o "$work/plain" "$work/program.c"
cp "$work/plain" "$work/marked"
LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu \
    "$work/root/usr/bin/hugeedit" --text --data "$work/marked" | grep HUGE

cat >"$work/flags.py" <<'PYTHON'
import sys

import lief
from elftools.elf.elffile import ELFFile

reader, path = sys.argv[1:]
if reader == "p_flags":
    with open(path, "rb") as file:
        loaded = [s for s in ELFFile(file).iter_segments() if s["p_type"] == "PT_LOAD"]
        print([s["p_flags"] for s in loaded])
else:
    binary = lief.parse(path)  # kept: the segments are views of it
    loaded = [s for s in binary.segments if s.type == lief.ELF.Segment.TYPE.LOAD]
    print([int(getattr(s, reader)) for s in loaded])
PYTHON
python=$work/venv/bin/python
changed=()
try() { # NAME STATED PATTERN COMMAND...: whether the command's lines with the pattern differ
    local name=$1 stated=$2 pattern=$3 plain marked seen=same
    shift 3
    plain=$("$@" "$work/plain" | grep -A 1 "$pattern")
    marked=$("$@" "$work/marked" | grep -A 1 "$pattern")
    [[ $plain == "$marked" ]] || seen=differ
    echo "$name: $seen"
    [[ $seen == "$stated" ]] || changed+=("$name")
}
try "readelf -lW" same LOAD readelf -lW
try "pyelftools' readelf.py" same LOAD "$python" "$work/venv/bin/readelf.py" -l
try "LIEF's flags" same '^\[' "$python" "$work/flags.py" flags
try "LIEF's raw_flags" differ '^\[' "$python" "$work/flags.py" raw_flags
try "pyelftools' p_flags" differ '^\[' "$python" "$work/flags.py" p_flags
try "objdump -p" differ LOAD objdump -p
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
