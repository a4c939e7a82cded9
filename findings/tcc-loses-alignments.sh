#!/usr/bin/env bash
# tcc drops every alignment in a file that includes a glibc header, and those of local variables.
#
# Version: tcc 0.9.27+git20200814.62c30a4a-1 (Debian 12), with the headers of the machine's glibc.
#   Seen with glibc 2.36.
# Expected: https://bellard.org/tcc/tcc-doc.html lists aligned(n) among the attributes that tcc
#   takes, for variables and for fields of a struct. It says so of no header and of no kind of
#   variable.
# Seen: glibc's sys/cdefs.h empties the word __attribute__ for each compiler but gcc and clang, and
#   every header includes it. Behind <stdio.h>, a struct of aligned(64) has the alignment 1, and so
#   has a global variable. Nothing is reported. Without a header, struct and globals are right, and
#   local variables of aligned(64) start 16 or 48 bytes off.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq tcc=0.9.27+git20200814.62c30a4a-1 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/program.c" <<'C'
#ifdef HEADER
#include <stdio.h>
#else
int printf(const char *, ...);
#endif
struct block {
    char bytes[64];
} __attribute__((aligned(64)));
char before[3] = {1};
char global[64] __attribute__((aligned(64))) = {1};
static int locals_off(int depth) { /* one aligned frame would be chance */
    char first[1];
    char local[64] __attribute__((aligned(64)));
    first[0] = local[0] = depth;
    return ((unsigned long)local & 63) != 0 || (depth && locals_off(depth - 1));
}
int main(void) {
    printf("struct %d, global %s, local %s\n", (int)_Alignof(struct block),
           (unsigned long)global & 63 ? "off" : "aligned", locals_off(7) ? "off" : "aligned");
    return 0;
}
C
tcc() { "$work/root/usr/bin/tcc" -B"$work/root/usr/lib/x86_64-linux-gnu/tcc" "$@"; }

changed=()
try() { # STATED COMPILER...
    local stated=$1 seen
    shift
    "$@" -o "$work/program" "$work/program.c"
    seen=$("$work/program")
    echo "$*: $seen"
    [[ $seen == "$stated" ]] || changed+=("'$*'")
}
try "struct 64, global aligned, local aligned" cc -O0
try "struct 64, global aligned, local aligned" cc -O0 -DHEADER
try "struct 64, global aligned, local off" tcc
try "struct 1, global off, local off" tcc -DHEADER
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
