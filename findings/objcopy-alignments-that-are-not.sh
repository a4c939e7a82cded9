#!/usr/bin/env bash
# Both objcopy take --set-section-alignment for a program: GNU's writes a smaller alignment, LLVM's
# one that the section's address does not have.
#
# Version: binutils-x86-64-linux-gnu 2.40-2, llvm-14 1:14.0.6-12 (Debian 12), on a program of the
#   machine's own C compiler.
# Expected: https://sourceware.org/binutils/docs-2.40/binutils/objcopy.html says that the option
#   sets the alignment of each section that matches, and names no kind of file.
#   https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.sheader.html wants sh_addr to be a multiple
#   of sh_addralign. A linked program would need another address, so the tool refuses.
# Seen: both exit with 0 and print nothing. Asked for 4,096, GNU's writes the most that the address
#   has by chance, 64 here, though 4,096 in an object file. LLVM's writes 4,096 at an address that
#   is no multiple of it. A script that aligns hot loops after linking aligns none, and in the
#   second case a tool that reads the headers believes that they are.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 \
        'llvm-14=1:14.0.6-12' 'libllvm14=1:14.0.6-12' libz3-4 libedit2 libbsd0 libxml2 \
        libicu72 2>/dev/null &&
    for package in *.deb; do dpkg -x "$package" root; done
) || { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/program.c" <<'C'
int main(int count, char **words) {
    (void)words;
    return count == 99;
}
C
cc -O1 -fPIE -pie -o "$work/program" "$work/program.c"
cc -O1 -c -o "$work/object" "$work/program.c"

run() { # TOOL ARGUMENT...
    LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu "$work/root/usr/$1" "${@:2}"
}
alignment() { # of .text, and what its address is off by
    readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] \.text / /p' | {
        read -r _ address _ _ _ _ _ _ align
        echo "$align, off by $((0x$address % align))"
    }
}
changed=()
try() { # NAME PATTERN FILE TOOL
    local seen
    seen=$(run "$4" --set-section-alignment .text=4096 "$work/$3" "$work/$3.out" 2>&1)
    [[ $seen ]] || seen=$(alignment "$work/$3.out")
    echo "$1, $3: $seen"
    # shellcheck disable=SC2053
    [[ $seen == $2 ]] || changed+=("$1, $3")
}
gnu=bin/x86_64-linux-gnu-objcopy llvm=lib/llvm-14/bin/llvm-objcopy
try GNU "@(8|16|32|64|128), off by 0" program "$gnu"
try GNU "4096, off by 0" object "$gnu"
try LLVM "4096, off by [1-9]*" program "$llvm"
if ((${#changed[@]})); then
    printf 'changed: %s\n' "${changed[@]}" >&2
    exit 1
fi
