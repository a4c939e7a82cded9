#!/usr/bin/env bash
# qemu-user says yes to every page advice, even MADV_POPULATE_WRITE, and does nothing.
#
# Version: qemu-user-static 1:7.2+dfsg-7+deb12u18+b3 (Debian 12), an x86-64 program on Linux 5.14 or
#   newer on x86-64.
# Expected: https://man7.org/linux/man-pages/man2/madvise.2.html says that MADV_POPULATE_WRITE
#   faults all pages in before it returns, and fails if it cannot. It fails with EINVAL for an
#   advice that the kernel does not know, which is how programs ask what there is.
# Seen: MADV_POPULATE_WRITE returns 0 and no page is there. Advice number 12345 returns 0.
#   MADV_HUGEPAGE returns 0, and the mapping has no such flag. An unaligned address still fails, and
#   MADV_DONTNEED does its work. So a benchmark that faults its pages in first times page faults
#   here, and a test of the way out when an advice is missing tests nothing.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq 'qemu-user-static=1:7.2+dfsg-7+deb12u18+b3' 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/advise.c" <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { SIZE = 64 << 20, POPULATE_WRITE = 23 };
static const char *answer(int returned) { return returned ? "no" : "yes"; }
static long resident_kib(void) {
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) exit(3);
    fclose(file);
    return pages * 4;
}
static int flagged(const char *block) { /* has its mapping the flag of MADV_HUGEPAGE? */
    char line[512];
    int found = 0, inside = 0;
    unsigned long start, end, address = (unsigned long)block;
    FILE *file = fopen("/proc/self/smaps", "r");
    if (!file) exit(3);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            inside = start <= address && address < end;
        found |= inside && !strncmp(line, "VmFlags:", 8) && strstr(line, " hg");
    }
    fclose(file);
    return found;
}
int main(void) {
    resident_kib(); /* the file's own buffer is allocated and freed */
    long before = resident_kib();
    char *block = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return 3;
    printf("populate %s", answer(madvise(block, SIZE, POPULATE_WRITE)));
    printf(" %s", resident_kib() - before > SIZE >> 11 ? "done" : "not done");
    printf(", unknown %s", answer(madvise(block, SIZE, 12345)));
    printf(", huge %s", answer(madvise(block, SIZE, MADV_HUGEPAGE)));
    printf(" %s", flagged(block) ? "flagged" : "not flagged");
    printf(", unaligned %s", answer(madvise(block + 1, SIZE / 2, MADV_HUGEPAGE)));
    block[0] = 1;
    printf(", drop %s", answer(madvise(block, SIZE, MADV_DONTNEED)));
    printf(" %s\n", block[0] ? "not done" : "done");
    return 0;
}
C
cc -O0 -static -o "$work/advise" "$work/advise.c"

rest="unaligned no, drop yes done"
native=$("$work/advise")
emulated=$("$work/root/usr/bin/qemu-x86_64-static" "$work/advise")
echo "native:    $native"
echo "qemu-user: $emulated"
if [[ $native != "populate yes done, unknown no, huge yes flagged, $rest" ]]; then
    echo "this kernel does not take the advice" >&2
    exit 2
fi
if [[ $emulated != "populate yes not done, unknown yes, huge yes not flagged, $rest" ]]; then
    echo "changed: qemu-user" >&2
    exit 1
fi
