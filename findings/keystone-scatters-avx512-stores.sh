#!/usr/bin/env bash
# Keystone assembles a 64-byte store to rdi+64 as one to rdi+4096.
#
# Version: keystone-engine 0.9.2 (PyPI), 64-bit mode. Beside it: iced-x86 1.21.0 (PyPI) and the
#   machine's GNU assembler, seen with binutils 2.40.
# Expected: https://www.keystone-engine.org/docs/tutorial.html says that the result encodes the
#   instructions given. A one-byte displacement of an EVEX instruction is a multiple of the
#   operand's size (Intel's manual, volume 2, 2.7.5), so +64 of a 64-byte store is 01, and what is
#   no such multiple takes four bytes.
# Seen: Keystone writes the low byte of the displacement itself. `vmovdqu64 [rdi+64], zmm0` stores
#   to rdi+0x1000, `vmovntdq [rdi+0x80], zmm1` to rdi-0x2000, and [rdi+0x1000] becomes [rdi].
#   Nothing is reported. Copy loops that step by 64 bytes scatter theirs over whole pages. Loads are
#   wrong as well. SSE and AVX stores, and larger displacements, are right.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check keystone-engine==0.9.2 \
    iced-x86==1.21.0; } || { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/assemble.py" <<'PYTHON'
import subprocess
import sys

import iced_x86
import keystone

CASES = {  # the displacement in Keystone's code
    "vmovdqu64 [rdi+64], zmm0": 0x1000,
    "vmovntdq [rdi+0x80], zmm1": -0x2000,
    "vmovdqu64 zmm0, [rsi+64]": 0x1000,
    "vmovdqu64 [rdi+0x1000], zmm0": 0,
    "vmovdqu64 [rdi+0x10000], zmm0": 0x10000,
    "vmovdqu [rdi+64], ymm0": 64,
    "movntdq [rdi+64], xmm0": 64,
}


def displacement(code):
    unsigned = iced_x86.Decoder(64, code).decode().memory_displacement
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


def gnu(text):
    """The displacement in the GNU assembler's code."""
    source = f".intel_syntax noprefix\n{text}\n"
    files = [f"{sys.argv[1]}/code.o", f"{sys.argv[1]}/code.bin"]
    subprocess.run(["as", "--64", "-o", files[0], "-"], input=source, text=True, check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", *files], check=True)
    with open(files[1], "rb") as file:
        return displacement(file.read())


assembler = keystone.Ks(keystone.KS_ARCH_X86, keystone.KS_MODE_64)
changed = []
for text, stated in CASES.items():
    asked = int(text.split("+")[1].split("]")[0], 0)
    code, _ = assembler.asm(text, 0)
    seen, other = displacement(bytes(code)), gnu(text)
    print(f"{text}: Keystone {seen:#x}, GNU as {other:#x}")
    if seen != stated or other != asked:
        changed.append(text)
if changed:
    sys.exit("changed: " + "; ".join(changed))
PYTHON
"$work/venv/bin/python" "$work/assemble.py" "$work"
