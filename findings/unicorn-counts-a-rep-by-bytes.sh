#!/usr/bin/env bash
# Unicorn counts a rep movsb of 64 bytes as 65 instructions, and halves aligned 16-byte stores.
#
# Version: unicorn 2.1.4 (PyPI), x86-64 mode.
# Expected: https://github.com/unicorn-engine/unicorn/blob/2.1.4/include/unicorn/unicorn.h says that
#   `count` of uc_emu_start is the number of instructions, and that UC_HOOK_CODE hooks each one.
#   https://github.com/unicorn-engine/unicorn/blob/master/docs/FAQ.md says that the program counter
#   is at the next instruction afterwards, and that a memory hook is called again and again for an
#   instruction such as `rep stos` or for a badly aligned address.
# Seen: UC_HOOK_CODE is called 65 times for one `rep movsb` of 64 bytes, and once for one of none.
#   count=1 copies one byte and leaves the program counter where it was. An aligned `movntdq` of 16
#   bytes is told as two writes of 8. Instructions, stores and their sizes, counted so, make `rep
#   movsb` the most costly copy and cannot tell vector stores from those of 8 bytes.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check unicorn==2.1.4; } ||
    { echo "cannot install the package" >&2; exit 2; }

"$work/venv/bin/python" - <<'PYTHON'
import sys

import unicorn
from unicorn import x86_const as x86

CODE, FROM, TO = 0x1000, 0x10000, 0x18000


def run(code, size, count):
    """How often the code hook was called, the writes' sizes, the bytes copied, code left to run."""
    machine = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
    machine.mem_map(CODE, 0x1000)
    machine.mem_map(FROM, 0x10000)
    machine.mem_write(CODE, code)
    machine.mem_write(FROM, b"x" * 64)
    for register, value in (("RSI", FROM), ("RDI", TO), ("RCX", size)):
        machine.reg_write(getattr(x86, f"UC_X86_REG_{register}"), value)
    calls, writes = [], []
    machine.hook_add(unicorn.UC_HOOK_CODE, lambda *_: calls.append(1))
    machine.hook_add(
        unicorn.UC_HOOK_MEM_WRITE, lambda _machine, _kind, _at, size, *_: writes.append(size)
    )
    machine.emu_start(CODE, CODE + len(code), count=count)
    copied = machine.mem_read(TO, 64).count(b"x")
    return len(calls), writes, copied, CODE + len(code) - machine.reg_read(x86.UC_X86_REG_RIP)


REP_MOVSB = bytes.fromhex("f3a4")
LOAD_AND_MOVNTDQ = bytes.fromhex("0f1006660fe707")
STATED = {
    "rep movsb of 64": (run(REP_MOVSB, 64, 0), (65, [1] * 64, 64, 0)),
    "rep movsb of 0": (run(REP_MOVSB, 0, 0), (1, [], 0, 0)),
    "rep movsb of 64, count=1": (run(REP_MOVSB, 64, 1), (1, [1], 1, 2)),
    "movups and movntdq": (run(LOAD_AND_MOVNTDQ, 0, 0), (2, [8, 8], 16, 0)),
}
for name, (seen, _) in STATED.items():
    calls, writes, copied, left = seen
    sizes = f"{len(writes)} writes of {sorted(set(writes))} bytes"
    print(f"{name}: {calls} calls of the code hook, {sizes}, {copied} copied, {left} left to run")
changed = [name for name, (seen, stated) in STATED.items() if seen != stated]
if changed:
    sys.exit("changed: " + "; ".join(changed))
PYTHON
