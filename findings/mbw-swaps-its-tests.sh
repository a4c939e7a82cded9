#!/usr/bin/env bash
# mbw times a loop under the name MEMCPY, libc's memcpy under the name DUMB, and one block as
# MCBLOCK.
#
# Version: mbw 1.2.2-1.1 (Debian 12).
# Expected: https://manpages.debian.org/bookworm/mbw/mbw.1.en.html says that -t0 is the memcpy()
#   test, -t1 the dumb one (b[i]=a[i]), and that it copies one array to the other. -t2 does so
#   with memcpy in blocks of -b bytes.
# Seen: -t0, printed as MEMCPY, calls no copy function at all. -t1, printed as DUMB, is the one call
#   of memcpy for the whole array. -t2 fills the whole destination from the first block of the
#   source: it never advances there, so its reads come from a cache, and its figure is no copy of an
#   array.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq mbw=1.2.2-1.1 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

# Counts calls that copy 4 KiB or more, and says how many sources and destinations they had.
cat >"$work/count.c" <<'C'
#include <stddef.h>
#include <stdio.h>
static size_t calls, bytes, sources, destinations;
static const void *last_source;
static void *last_destination;
static void *copy(void *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    if (size < 4096) return to;
    calls++, bytes += size;
    if (from != last_source) last_source = from, sources++;
    if (to != last_destination) last_destination = to, destinations++;
    return to;
}
void *memcpy(void *to, const void *from, size_t size) { return copy(to, from, size); }
void *mempcpy(void *to, const void *from, size_t size) {
    return (char *)copy(to, from, size) + size;
}
__attribute__((destructor)) static void say(void) {
    fprintf(stderr, "%zu calls, %zu KiB, %zu sources, %zu destinations\n", calls, bytes >> 10,
            sources, destinations);
}
C
cc -O1 -fno-builtin -fno-tree-loop-distribute-patterns -shared -fPIC \
    -o "$work/count.so" "$work/count.c"

changed=()
try() { # TEST STATED
    local printed
    printed=$(LD_PRELOAD="$work/count.so" "$work/root/usr/bin/mbw" -q -a -n 1 "-t$1" -b 65536 4 \
        2>"$work/counted" | grep -o 'Method: [A-Z]*')
    printed+=": $(<"$work/counted")"
    echo "-t$1 $printed"
    [[ $printed == "$2" ]] || changed+=("-t$1")
}
try 0 "Method: MEMCPY: 0 calls, 0 KiB, 0 sources, 0 destinations"
try 1 "Method: DUMB: 1 calls, 4096 KiB, 1 sources, 1 destinations"
try 2 "Method: MCBLOCK: 64 calls, 4096 KiB, 1 sources, 64 destinations"
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
