#!/usr/bin/env bash
# glibc's memcpy copies a block from its end to its start where both sides begin alike in their pages.
#
# Version: libc6 2.36-9+deb12u14 (Debian 12), x86-64.
# Expected: memcpy promises no order. But blocks that do not overlap give no reason to go backward,
#   and the same block is copied forward to a place 1,024 bytes further on.
# Seen: with the same 12 low bits in both addresses, which two mappings have, and two large blocks of
#   malloc, all pages but the first are read in falling order. Otherwise they are read in rising order. It
#   holds wherever the vector loop copies: on a Zen 3 from 512 KiB on, and at all sizes where
#   the tunable keeps `rep movsb` away. Who reads along in another thread, or serves the page faults of
#   such a copy, meets the end first.
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

# The source cannot be read at first. Each page that is asked for is noted, and opened.
cat >"$work/program.c" <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static char *source;
static long before = -1, rising, falling;
static void asked(int number, siginfo_t *info, void *context) {
    const long page = ((char *)info->si_addr - source) / 4096;
    (void)number, (void)context;
    if (before >= 0) ++*(page > before ? &rising : &falling);
    before = page;
    mprotect(source + page * 4096, 4096, PROT_READ);
}
static char *mapped(size_t bytes) {
    char *block = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (block == MAP_FAILED) exit(3);
    return block;
}
int main(int count, char **word) {
    struct sigaction action = {.sa_sigaction = asked, .sa_flags = SA_SIGINFO};
    volatile size_t bytes = (size_t)1 << 20;
    char *destination = mapped(bytes + 8192);
    if (count != 2 || sigaction(SIGSEGV, &action, 0)) return 3;
    source = mapped(bytes + 8192);
    mprotect(source, bytes + 8192, PROT_NONE);
    memcpy(destination + atol(word[1]), source, bytes);
    puts(falling > 200 ? "from the end" : rising > 200 ? "from the start" : "neither");
    return 0;
}
C
cc -O1 -fno-builtin -o "$work/program" "$work/program.c"

library=$work/root/lib/x86_64-linux-gnu
changed=()
try() { # BYTES STATED
    local seen
    seen=$(GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=0x10000000 \
        "$library/ld-linux-x86-64.so.2" --library-path "$library" "$work/program" "$1")
    echo "the destination begins $1 bytes further on in its page: $seen"
    [[ $seen == "$2" ]] || changed+=("$1")
}
try 0 "from the end"
try 1024 "from the start"
try 2048 "from the start"
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
