#!/usr/bin/env bash
# Programs that `zig cc` builds may call Zig's memcpy instead of that of the libc they name.
#
# Version: ziglang 0.17.1 (PyPI), x86-64.
# Expected: https://ziglang.org/learn/overview/ says that Zig is a C compiler that ships several
#   libcs. The target names the libc, `x86_64-linux-musl` or `x86_64-linux-gnu`. A call of memcpy
#   reaches that libc's function, as with clang and musl-gcc, and LD_PRELOAD replaces it in a
#   dynamic program.
# Seen: for musl, memcpy comes from Zig's compiler_rt, at -O0 and -O2. A measurement of musl that is
#   built so is one of Zig. For glibc it is libc's at -O2. Without -O, the default, the sanitizer's
#   runtime brings compiler_rt's memcpy into the program as a local symbol: no preloaded library
#   sees a call of it. With -fno-sanitize=undefined it is libc's again.
# It unpacks some 400 MB.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1; } ||
    { echo "cannot install the package" >&2; exit 2; }
zig() { "$work/venv/bin/python" -m ziglang "$@"; }

cat >"$work/program.c" <<'C'
#include <string.h>
int main(int count, char **words) {
    char to[16];
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    copy(to, words[0], 1);
    return count == 99 ? to[0] : 0;
}
C
cat >"$work/spy.c" <<'C'
#include <stddef.h>
#include <unistd.h>
void *memcpy(void *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    if (size == 1 && write(1, "seen", 4) != 4) _exit(3);
    return to;
}
C
zig cc -target x86_64-linux-gnu -O1 -fno-builtin -shared -fPIC -o "$work/spy.so" "$work/spy.c"

changed=()
try() { # STATED TARGET OPTION...
    local stated=$1 target=$2 symbols seen
    shift 2
    zig cc -target "$target" "$@" -o "$work/program" "$work/program.c"
    symbols=$(nm "$work/program")
    if grep -qE ' U memcpy(@|$)' <<<"$symbols"; then
        seen="libc's"
    elif grep -q 'compiler_rt\.memcpy' <<<"$symbols"; then
        seen="Zig's"
    else
        seen="another"
    fi
    if [[ $target == *-gnu ]]; then
        if [[ $(LD_PRELOAD="$work/spy.so" "$work/program") == seen* ]]; then
            seen+=", preloaded one called"
        else
            seen+=", preloaded one not called"
        fi
    fi
    echo "$target $*: $seen"
    [[ $seen == "$stated" ]] || changed+=("'$target $*'")
}
try "Zig's" x86_64-linux-musl
try "Zig's" x86_64-linux-musl -O2
try "Zig's, preloaded one not called" x86_64-linux-gnu
try "libc's, preloaded one called" x86_64-linux-gnu -fno-sanitize=undefined
try "libc's, preloaded one called" x86_64-linux-gnu -O2
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
