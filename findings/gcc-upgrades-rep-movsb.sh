#!/usr/bin/env bash
# gcc's -mstringop-strategy=rep_byte writes rep movsl, and =libcall calls nothing up to 256 bytes.
#
# Version: gcc 12.2.0-14+deb12u1 (Debian 12, package cpp-12 with cc1), x86-64.
# Expected: https://gcc.gnu.org/onlinedocs/gcc-12.2.0/gcc/x86-Options.html says that the option
#   overrides gcc's own choice: libcall is always a call of the library, and rep_byte the rep prefix
#   with moves of one byte. Whoever has a processor with fast `rep movsb` asks for the latter.
# Seen: at -O2 a copy of constant size that is divisible by 4 becomes `rep movsl` under rep_byte,
#   and only the others `rep movsb`. The fast path for bytes is not that of four bytes on every
#   processor. Under both choices, copies of 64 and of 256 bytes stay vector moves. With
#   -fno-builtin-memcpy they become calls.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq cpp-12=12.2.0-14+deb12u1 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/program.c" <<'C'
void *memcpy(void *, const void *, unsigned long);
void copy64(char *to, const char *from) { memcpy(to, from, 64); }
void copy256(char *to, const char *from) { memcpy(to, from, 256); }
void copy4096(char *to, const char *from) { memcpy(to, from, 4096); }
void copy4097(char *to, const char *from) { memcpy(to, from, 4097); }
void copy_any(char *to, const char *from, unsigned long size) { memcpy(to, from, size); }
C
compile() { # OPTION...: for each function, how it copies
    "$work/root/usr/lib/gcc/x86_64-linux-gnu/12/cc1" -quiet -O2 "$@" -o - "$work/program.c" |
        awk '/^copy[0-9a-z_]*:/ {name = $1; how = "moves"}
             /rep movs/ {how = $1 " " $2}
             /(call|jmp).*memcpy/ {how = "call"}
             /^\tret|\tjmp.*memcpy/ {printf "%s %s, ", name, how}'
}
changed=()
try() { # OPTION STATED
    local seen
    seen=$(compile "$1")
    echo "$1: $seen"
    [[ $seen == "$2" ]] || changed+=("$1")
}
try -mstringop-strategy=rep_byte "copy64: moves, copy256: moves, copy4096: rep movsl,\
 copy4097: rep movsb, copy_any: rep movsb, "
try -mstringop-strategy=libcall "copy64: moves, copy256: moves, copy4096: call, copy4097: call,\
 copy_any: call, "
try -fno-builtin-memcpy "copy64: call, copy256: call, copy4096: call, copy4097: call,\
 copy_any: call, "
if ((${#changed[@]})); then
    echo "changed: ${changed[*]}" >&2
    exit 1
fi
