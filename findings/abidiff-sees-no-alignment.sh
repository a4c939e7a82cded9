#!/usr/bin/env bash
# abidiff finds no change between two libraries whose functions pass a struct in different places.
#
# Version: abigail-tools and libabigail0 2.2-2 (Debian 12), with debug information of the machine's
#   own C compiler (seen with gcc 12.2, DWARF 5).
# Expected: https://man7.org/linux/man-pages/man7/libabigail.7.html says that the tool looks for
#   changes of the layout and size of the types that exported functions use, and abidiff's reports
#   know a line for a changed alignment. DWARF 5 has DW_AT_alignment for it.
# Seen: a struct of 64 bytes that becomes aligned(64), as one does for a cache line, is no change:
#   the exit code is 0 and nothing is printed. The alignment of a variable is not compared either.
#   Yet gcc passes a struct by value at another place of the stack then, if another parameter lies
#   before it. A caller of the old library gives the new one wrong bytes.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq abigail-tools=2.2-2 libabigail0=2.2-2 libdw1=0.188-2.1 \
        libelf1=0.188-2.1 libxml2 libicu72 2>/dev/null &&
    for package in *.deb; do dpkg -x "$package" root; done
) || { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/library.c" <<'C'
#ifndef ALIGNED
#define ALIGNED
#endif
struct ALIGNED slot {
    char bytes[64];
};
struct slot ALIGNED table[4];
int first(long a, long b, long c, long d, long e, long f, long g, struct slot slot) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
    return slot.bytes[0];
}
C
cat >"$work/program.c" <<'C'
struct slot {
    char bytes[64];
};
int first(long a, long b, long c, long d, long e, long f, long g, struct slot slot);
int main(void) {
    struct slot slot = {{77}};
    return first(1, 2, 3, 4, 5, 6, 7, slot) != 77;
}
C
compile() { cc -g -O0 -w -fPIC -shared "$@" "$work/library.c"; }
compile -o "$work/old.so"
compile '-DALIGNED=__attribute__((aligned(64)))' -o "$work/new.so"

status=0
abidiff() {
    LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu "$work/root/usr/bin/abidiff" "$@"
}
if report=$(abidiff "$work/old.so" "$work/new.so") && [[ ! $report ]]; then
    echo "abidiff: no change"
else
    echo "changed: abidiff reports: $report" >&2
    status=1
fi
for library in old new; do
    cc -O0 -o "$work/program" "$work/program.c" "$work/$library.so"
    if "$work/program"; then seen=right; else seen=wrong; fi
    echo "the old caller with the $library library: $seen"
    [[ $library-$seen == old-right || $library-$seen == new-wrong ]] || status=1
done
if ! readelf --debug-dump=info "$work/new.so" | grep -q 'DW_AT_alignment *: *64'; then
    echo "the compiler writes no DW_AT_alignment" >&2
    exit 2
fi
exit "$status"
