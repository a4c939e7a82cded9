#!/usr/bin/env bash
# DHAT's copy mode counts nothing for strcat and realloc, and 3 bytes for a strncpy that writes
# 3,000.
#
# Version: valgrind 1:3.19.0-1 (Debian 12), `valgrind --tool=dhat --mode=copy`.
# Expected: https://valgrind.org/docs/manual/dh-manual.html says that this mode profiles copy
#   operations such as memcpy, memmove, strcpy and bcopy. Of the heap mode it says that the bytes
#   which realloc copies are added to reads and writes, so that these are not too small.
# Seen: memcpy, mempcpy, wmemcpy, memccpy, strcpy and strdup of 1,000 bytes count 1,000. strcat of
#   the same counts nothing. A realloc that moves a block counts nothing, so growing a buffer looks
#   free. strncpy counts the bytes that it reads, and not the zeros behind them: 3 of 3,000 bytes.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq valgrind=1:3.19.0-1 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/program.c" <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    char *from = malloc(4096), *to = malloc(4096), *moved;
    memset(from, 'x', 4096);
    memset(to, 0, 4096);
    from[999] = 0;
    if (!strcmp(what, "memcpy")) memcpy(to, from, 1000);
    if (!strcmp(what, "mempcpy")) mempcpy(to, from, 1000);
    if (!strcmp(what, "wmemcpy")) wmemcpy((wchar_t *)to, (wchar_t *)from, 1000 / sizeof(wchar_t));
    if (!strcmp(what, "memccpy")) memccpy(to, from, 0, 4000);
    if (!strcmp(what, "strcpy")) strcpy(to, from);
    if (!strcmp(what, "strdup")) free(strdup(from));
    if (!strcmp(what, "strcat")) strcat(to, from);
    if (!strcmp(what, "strncpy")) strncpy(to, "ab", 3000);
    if (!strcmp(what, "realloc")) {
        size_t old = (size_t)from;
        moved = realloc(from, 1 << 20);
        if ((size_t)moved == old || moved[0] != 'x') return 3; /* it has to be a copy */
    }
    return 0;
}
C
cc -O0 -w -fno-builtin -g -o "$work/program" "$work/program.c"

copied() { # [FUNCTION]: the bytes that DHAT counts
    VALGRIND_LIB=$work/root/usr/libexec/valgrind "$work/root/usr/bin/valgrind.bin" --tool=dhat \
        --mode=copy --dhat-out-file=/dev/null "$work/program" "$@" 2>&1 |
        sed -n 's/.*Total: *\([0-9,]*\) bytes.*/\1/p' | tr -d ,
}
idle=$(copied nothing)
[[ $idle ]] || { echo "DHAT does not run here" >&2; exit 2; }
changed=()
try() { # FUNCTION STATED
    local seen
    seen=$(copied "$1")
    seen=$((seen - idle))
    echo "$1: $seen bytes"
    ((seen == $2)) || changed+=("$1")
}
for function in memcpy mempcpy wmemcpy memccpy strcpy strdup; do try "$function" 1000; done
try strcat 0
try realloc 0
try strncpy 3
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
