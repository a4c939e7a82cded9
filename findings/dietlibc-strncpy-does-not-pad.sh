#!/usr/bin/env bash
# dietlibc's strncpy leaves the rest of the destination as it was, and its memrchr misses bytes.
#
# Version: dietlibc-dev 0.34~cvs20160606-14 (Debian 12), x86-64.
# Expected: https://pubs.opengroup.org/onlinepubs/9699919799/functions/strncpy.html, in line with
#   ISO C, says that strncpy and stpncpy append zeros until n characters are written. memchr.html
#   beside it says that memchr stops at the first match. glibc's manual says that memrchr is
#   memchr from the end, which converts its character to unsigned char.
# Seen: strncpy and stpncpy write one zero and leave old bytes behind it: records that are compared,
#   hashed or sent keep parts of older ones. memrchr finds nothing for 0x180, where memchr finds
#   0x80. memchr finds nothing if the size is SIZE_MAX. The changelog names WANT_FULL_POSIX_COMPAT,
#   a choice at build time that is usually off, and so it is here.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq dietlibc-dev=0.34~cvs20160606-14 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/program.c" <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
static int old_bytes(const char *field) { /* of eight */
    int count = 0;
    for (int i = 0; i < 8; i++) count += field[i] == 'z';
    return count;
}
int main(void) {
    char field[9] = "zzzzzzzz";
    unsigned char bytes[3] = {1, 0x80, 1};
    strncpy(field, "ab", 8);
    printf("strncpy leaves %d old bytes\n", old_bytes(field));
    memset(field, 'z', 8);
    stpncpy(field, "ab", 8);
    printf("stpncpy leaves %d old bytes\n", old_bytes(field));
    printf("memchr of 0x180: %s\n", memchr(bytes, 0x180, 3) ? "found" : "none");
    printf("memrchr of 0x180: %s\n", memrchr(bytes, 0x180, 3) ? "found" : "none");
    printf("memchr without an end: %s\n", memchr(bytes, 0x80, (size_t)-1) ? "found" : "none");
    return 0;
}
C
diet=$work/root/usr/lib/x86_64-linux-gnu/diet/lib-x86_64
cc -O0 -w -fno-builtin -o "$work/glibc" "$work/program.c"
cc -O0 -w -fno-builtin -fno-stack-protector -fno-pie -no-pie -nostdlib -static \
    -Wl,--no-warnings -D__dietlibc__ -isystem "$work/root/usr/include/diet" \
    -o "$work/diet" "$diet/start.o" "$work/program.c" "$diet/libc.a" -lgcc

"$work/glibc" >"$work/glibc.txt"
"$work/diet" >"$work/diet.txt"
cat "$work/diet.txt"
status=0
diff - "$work/glibc.txt" <<'TEXT' || { echo "changed: glibc, see above" >&2; status=1; }
strncpy leaves 0 old bytes
stpncpy leaves 0 old bytes
memchr of 0x180: found
memrchr of 0x180: found
memchr without an end: found
TEXT
diff - "$work/diet.txt" <<'TEXT' || { echo "changed: dietlibc, see above" >&2; status=1; }
strncpy leaves 5 old bytes
stpncpy leaves 5 old bytes
memchr of 0x180: found
memrchr of 0x180: none
memchr without an end: none
TEXT
exit "$status"
