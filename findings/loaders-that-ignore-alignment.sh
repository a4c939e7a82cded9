#!/usr/bin/env bash
# musl's loader and Valgrind put aligned variables where they are not aligned.
#
# Version: musl and musl-dev 1.2.3-1, valgrind 1:3.19.0-1 (Debian 12), x86-64. Beside them: the
#   machine's own kernel and glibc (2.35 or newer).
# Expected: https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.pheader.html says that p_align gives
#   the alignment of a segment in memory and in the file. Compilers take aligned(65536) and more for
#   static variables, and linkers write it into p_align. Valgrind runs a program as it is.
# Seen: a shared library's variable that is aligned(1 MiB) starts at any page under musl's loader,
#   and no error is reported. Valgrind loads a position-independent program at 0x108000, so that its
#   variables of aligned(65536) and of aligned(2 MiB) are off by 0x8000 and 0x108000. Code that
#   masks addresses, or that counts on huge pages, is wrong in both. The kernel and glibc align.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq musl=1.2.3-1 musl-dev=1.2.3-1 'valgrind=1:3.19.0-1' 2>/dev/null &&
    for package in *.deb; do dpkg -x "$package" root; done
) || { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/library.c" <<'C'
char shared[4096] __attribute__((aligned(1 << 20))) = {1};
C
cat >"$work/user.c" <<'C'
int printf(const char *, ...);
extern char shared[];
int main(void) {
    volatile unsigned long address = (unsigned long)shared;
    printf("%s", address & 0xfffff ? "off " : "aligned ");
    return 0;
}
C
cat >"$work/program.c" <<'C'
#include <stdio.h>
static char large[4096] __attribute__((aligned(65536))) = {1};
static char huge[4096] __attribute__((aligned(2 << 20))) = {1};
int main(void) {
    volatile unsigned long first = (unsigned long)large, second = (unsigned long)huge;
    printf("%#lx %#lx", first & 0xffff, second & 0x1fffff);
    return 0;
}
C
musl=$work/root/usr/lib/x86_64-linux-musl
loader=$work/root/lib/x86_64-linux-musl/libc.so
cc -O1 -fPIC -shared -nostdlib -o "$work/libshared.so" "$work/library.c"
cc -O1 -fPIC -pie -o "$work/user-glibc" "$work/user.c" "$work/libshared.so"
cc -O1 -fPIC -pie -nostdlib -o "$work/user-musl" "$musl/Scrt1.o" "$musl/crti.o" "$work/user.c" \
    "$work/libshared.so" "$loader" "$musl/crtn.o"
cc -O1 -fPIE -pie -o "$work/program" "$work/program.c"

changed=()
try() { # NAME STATED SEEN
    echo "$1: $3"
    [[ $3 == "$2" ]] || changed+=("$1")
}
five() { for _ in 1 2 3 4 5; do "$@"; done; } # one aligned address would be chance
try glibc "aligned aligned aligned aligned aligned " "$(five "$work/user-glibc")"
seen=$(five "$loader" --library-path "$work" "$work/user-musl")
echo "musl: $seen"
[[ $seen == *off* ]] || changed+=("musl")
try kernel "0 0" "$("$work/program")"
try Valgrind "0x8000 0x108000" "$(VALGRIND_LIB=$work/root/usr/libexec/valgrind \
    "$work/root/usr/bin/valgrind.bin" -q --tool=none "$work/program")"
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
