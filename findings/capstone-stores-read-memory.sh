#!/usr/bin/env bash
# Capstone says of most vector and non-temporal stores that they read memory.
#
# Version: capstone 5.0.9 (PyPI), x86-64, detail mode. Beside it: iced-x86 1.21.0 (PyPI).
# Expected: https://github.com/capstone-engine/capstone/blob/v5/include/capstone/x86.h says that
#   an operand's `access` tells how it is accessed: READ, WRITE or both. A store's memory operand
#   is therefore CS_AC_WRITE. Tools that count a loop's loads and stores rely on it.
# Seen: `movdqa`, `movdqu`, `movaps` and `movdiri` to memory have WRITE. `movups`, `movnti`,
#   `movntdq`, `movntps`, `vmovdqu`, `vmovdqu8` and `vmovdqu64` to memory have READ, and no WRITE at
#   all. So a non-temporal copy loop seems to store nothing. iced-x86 says WRITE of all of them.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check capstone==5.0.9 \
    iced-x86==1.21.0; } || { echo "cannot install the packages" >&2; exit 2; }

"$work/venv/bin/python" - <<'PYTHON'
import sys

import capstone
import iced_x86

STORES = {  # to [rdi], from register 0
    "movdqa": ("660f7f07", "write"),
    "movdqu": ("f30f7f07", "write"),
    "movaps": ("0f2907", "write"),
    "movdiri": ("480f38f907", "write"),
    "movups": ("0f1107", "read"),
    "movnti": ("480fc307", "read"),
    "movntdq": ("660fe707", "read"),
    "movntps": ("0f2b07", "read"),
    "vmovdqu": ("c5fe7f07", "read"),
    "vmovdqu8": ("62f17f487f07", "read"),
    "vmovdqu64": ("62f1fe487f07", "read"),
}
ACCESS = {capstone.CS_AC_READ: "read", capstone.CS_AC_WRITE: "write"}

disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
disassembler.detail = True
information = iced_x86.InstructionInfoFactory()
changed = []
for name, (code, stated) in STORES.items():
    (instruction,) = disassembler.disasm(bytes.fromhex(code), 0)
    (memory,) = (o for o in instruction.operands if o.type == capstone.x86.X86_OP_MEM)
    seen = ACCESS.get(memory.access, str(memory.access))
    decoded = iced_x86.Decoder(64, bytes.fromhex(code)).decode()
    (used,) = information.info(decoded).used_memory()
    writes = used.access == iced_x86.OpAccess.WRITE
    other = "write" if writes else "other"
    print(f"{instruction.mnemonic:10} capstone: {seen:6} iced-x86: {other}")
    if instruction.mnemonic != name or seen != stated or not writes:
        changed.append(name)
if changed:
    sys.exit("changed: " + ", ".join(changed))
PYTHON
