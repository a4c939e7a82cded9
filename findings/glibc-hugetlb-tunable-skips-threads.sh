#!/usr/bin/env bash
# glibc's tunable for huge pages leaves out the heap of every thread but the first.
#
# Version: libc6 2.36-9+deb12u14 (Debian 12), x86-64, on a Linux whose transparent huge pages are in
#   the mode "madvise".
# Expected: https://sourceware.org/glibc/manual/2.36/html_node/Memory-Allocation-Tunables.html says
#   that glibc.malloc.hugetlb=1 advises huge pages for memory that malloc gets from mmap or sbrk.
#   The heaps of further threads are mappings too.
# Seen: 64 MiB of small blocks in the first thread are advised whole. The same blocks in a second
#   thread are not: 2 MiB of them at most are. That heap grows in steps, and each step below 2 MiB
#   goes without the advice. A program whose work is done by threads gains next to nothing, and a
#   test of the tunable in one thread shows a gain.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq libc6=2.36-9+deb12u14 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }
if ! grep -q '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled; then
    echo "transparent huge pages are not in the mode madvise" >&2
    exit 2
fi

cat >"$work/program.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { BLOCKS = 1024, SIZE = 65536 };
static char *kept[BLOCKS];
static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < BLOCKS; i++)
        if ((kept[i] = malloc(SIZE))) memset(kept[i], 1, SIZE);
    return 0;
}
static long advised_kib(void) {
    char line[512];
    long size = 0, sum = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    if (!file) exit(3);
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "Size: %ld", &size);
        if (!strncmp(line, "VmFlags:", 8) && strstr(line, " hg")) sum += size;
    }
    fclose(file);
    return sum;
}
int main(int count, char **words) {
    pthread_t thread;
    (void)words;
    if (count > 1) {
        if (pthread_create(&thread, 0, work, 0) || pthread_join(thread, 0)) return 3;
    } else {
        work(0);
    }
    long advised = advised_kib() >> 10;
    puts(advised > 60 ? "all advised" : advised > 2 ? "some advised" : "2 MiB at most");
    return 0;
}
C
cc -O0 -pthread -o "$work/program" "$work/program.c"

library=$work/root/lib/x86_64-linux-gnu
changed=()
try() { # NAME STATED [ARGUMENT]
    local seen
    seen=$(GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "$library/ld-linux-x86-64.so.2" \
        --library-path "$library" "$work/program" "${@:3}")
    echo "$1: $seen"
    [[ $seen == "$2" ]] || changed+=("$1")
}
try "first thread" "all advised"
try "second thread" "2 MiB at most" second
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
