#!/usr/bin/env bash
# LLVM libc's strrchr does not find the terminating zero, and its strcmp takes bytes as signed.
#
# Version: libllvmlibc-19-dev 1:19.1.7-3~deb12u1 (Debian 12), x86-64, linked before the system's
#   libc (what LLVM calls overlay mode).
# Expected: https://pubs.opengroup.org/onlinepubs/9699919799/functions/strrchr.html, in line with
#   ISO C, says that the terminating null byte is part of the string. strcmp.html beside it says
#   that bytes are compared as unsigned char.
# Seen: strrchr("abc", 0) is a null pointer, though strchr finds it. strcmp and strncmp say that
#   "\xff" comes before "\x01". memcmp of the same archive says the opposite, so sorting keys by one
#   and searching by the other goes wrong.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq 'libllvmlibc-19-dev=1:19.1.7-3~deb12u1' 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/program.c" <<'C'
#include <stdio.h>
#include <string.h>
static const char *order(int compared) {
    return compared < 0 ? "before" : compared ? "behind" : "equal";
}
int main(void) {
    const char *text = "abc", *high = "\xff", *low = "\x01";
    printf("strchr of the end: %s\n", strchr(text, 0) == text + 3 ? "found" : "none");
    printf("strrchr of the end: %s\n", strrchr(text, 0) == text + 3 ? "found" : "none");
    printf("strrchr of c: %s\n", strrchr(text, 'c') == text + 2 ? "found" : "none");
    printf("strcmp: ff %s 01\n", order(strcmp(high, low)));
    printf("strncmp: ff %s 01\n", order(strncmp(high, low, 1)));
    printf("memcmp: ff %s 01\n", order(memcmp(high, low, 1)));
    return 0;
}
C
cc -O0 -w -fno-builtin -o "$work/glibc" "$work/program.c"
cc -O0 -w -fno-builtin -fno-pie -no-pie -o "$work/llvm" "$work/program.c" \
    "$work/root/usr/lib/llvm-19/lib/libllvmlibc.a"

"$work/glibc" >"$work/glibc.txt"
"$work/llvm" >"$work/llvm.txt"
cat "$work/llvm.txt"
status=0
diff - "$work/glibc.txt" <<'TEXT' || { echo "changed: glibc, see above" >&2; status=1; }
strchr of the end: found
strrchr of the end: found
strrchr of c: found
strcmp: ff behind 01
strncmp: ff behind 01
memcmp: ff behind 01
TEXT
diff - "$work/llvm.txt" <<'TEXT' || { echo "changed: LLVM libc, see above" >&2; status=1; }
strchr of the end: found
strrchr of the end: none
strrchr of c: found
strcmp: ff before 01
strncmp: ff before 01
memcmp: ff behind 01
TEXT
exit "$status"
