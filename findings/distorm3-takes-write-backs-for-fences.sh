#!/usr/bin/env bash
# distorm3 shows CLWB and CLFLUSHOPT as fences, and 32-byte loads and registers as 16-byte ones.
#
# Version: distorm3 3.5.2 (PyPI), 64-bit mode. Beside it: capstone 5.0.9 (PyPI).
# Expected: https://github.com/gdabah/distorm says that the library decodes the vector extensions up
#   to AVX. Bytes that it does not know become DB lines, as its newer neighbours do here: movdir64b.
# Seen: 66 0F AE /6 and /7 with a memory operand come out as "MFENCE [RDI]" and "SFENCE [RDI]": a
#   program that writes cache lines back seems to order its stores only. tpause is MFENCE as well.
#   vmovntdqa, vpxor and vpmovmskb of AVX2 get XMM0 for YMM0, so a copy loop seems to move half of
#   its bytes. The same bit is read right in vmovdqu and vmovntdq.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check distorm3==3.5.2 \
    capstone==5.0.9; } || { echo "cannot install the packages" >&2; exit 2; }

"$work/venv/bin/python" - <<'PYTHON'
import sys

import capstone
import distorm3

CASES = {  # what Capstone calls it, and what distorm3 shows
    "660fae37": ("clwb", "MFENCE [RDI]"),
    "660fae3f": ("clflushopt", "SFENCE [RDI]"),
    "660faef1": ("tpause", "MFENCE"),
    "0fae3f": ("clflush", "CLFLUSH [RDI]"),
    "660f38f806": ("movdir64b", "DB 0x66"),
    "c4e27d2a06": ("vmovntdqa", "VMOVNTDQA XMM0, [RSI]"),
    "c5fdefc0": ("vpxor", "VPXOR XMM0, XMM0, XMM0"),
    "c5fdd7c0": ("vpmovmskb", "VPMOVMSKB RAX, XMM0"),
    "c5fe6f06": ("vmovdqu", "VMOVDQU YMM0, [RSI]"),
    "c5fde707": ("vmovntdq", "VMOVNTDQ [RDI], YMM0"),
}
neighbour = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
changed = []
for digits, (name, stated) in CASES.items():
    code = bytes.fromhex(digits)
    (instruction,) = neighbour.disasm(code, 0)
    seen = distorm3.Decode(0, code, distorm3.Decode64Bits)[0][2]
    print(f"{instruction.mnemonic} {instruction.op_str} | {seen}")
    if instruction.mnemonic != name or seen != stated:
        changed.append(name)
if changed:
    sys.exit("changed: " + ", ".join(changed))
PYTHON
