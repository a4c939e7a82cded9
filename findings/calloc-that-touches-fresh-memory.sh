#!/usr/bin/env bash
# Three allocators clear pages that the kernel has just cleared: calloc of 64 MiB takes 64 MiB.
#
# Version: tcmalloc (gperftools) 2.10-1, mimalloc 2.0.9+ds-2, jemalloc 5.3.0-1 (Debian 12), tbb
#   2023.2.0 (PyPI; libtbbmalloc_proxy.so.2). Beside them: the machine's glibc.
# Expected: https://man7.org/linux/man-pages/man2/mmap.2.html says that anonymous mappings start
#   with zeros. So a large calloc takes fresh pages from the kernel and touches none. glibc does
#   so, and programs reckon with it: sparse tables, numpy.zeros, arenas.
# Seen: glibc and jemalloc leave the pages alone. tcmalloc, mimalloc and TBB's malloc touch every
#   one, in the first calloc of the process, where no earlier block can have left anything. A
#   benchmark that preloads them times no fresh memory behind calloc, and the faults move from the
#   copy to the calloc.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq libtcmalloc-minimal4=2.10-1 libmimalloc2.0=2.0.9+ds-2 \
        libjemalloc2=5.3.0-1 2>/dev/null &&
    for package in *.deb; do dpkg -x "$package" root; done &&
    python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check tbb==2023.2.0
) || { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/calloc.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
static long resident_kib(void) {
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) exit(3);
    fclose(file);
    return pages * 4;
}
int main(void) {
    resident_kib(); /* the file's own buffer is allocated and freed */
    long before = resident_kib();
    volatile char *block = calloc(64 << 20, 1);
    long more = resident_kib() - before;
    if (!block || block[12345]) return 3;
    puts(more < 4096 ? "left" : more > 60000 ? "touched" : "other");
    return 0;
}
C
cc -O0 -o "$work/calloc" "$work/calloc.c"

library=$work/root/usr/lib/x86_64-linux-gnu
changed=()
try() { # NAME PRELOAD STATED
    local seen
    seen=$(LD_LIBRARY_PATH="$work/venv/lib" LD_PRELOAD="$2" "$work/calloc")
    printf '%-9s %s\n' "$1" "$seen"
    [[ $seen == "$3" ]] || changed+=("$1")
}
try glibc "" left
try jemalloc "$library/libjemalloc.so.2" left
try tcmalloc "$library/libtcmalloc_minimal.so.4" touched
try mimalloc "$library/libmimalloc.so.2.0" touched
try TBB "$work/venv/lib/libtbbmalloc_proxy.so.2" touched
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
