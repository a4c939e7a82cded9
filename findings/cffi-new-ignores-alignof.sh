#!/usr/bin/env bash
# cffi knows that a struct is aligned to 64 bytes, and allocates it at any multiple of 16.
#
# Version: cffi 2.1.1 and setuptools 65.5.0 (PyPI), CPython 3.11 or newer with its headers.
# Expected: https://cffi.readthedocs.io/en/stable/ref.html says that ffi.new allocates an instance
#   of the C type, and that ffi.alignof tells the alignment. C code may rely on that alignment, and
#   compilers do: they use instructions that fault on other addresses.
# Seen: ffi.alignof says 64, and ffi.new gives addresses that are 16, 32 or 48 bytes off. Nothing is
#   reported. Some calls give an aligned one by chance, so a test may pass. The same struct in C's
#   own memory is aligned.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check cffi==2.1.1 setuptools==65.5.0; } ||
    { echo "cannot install the packages" >&2; exit 2; }

cat >"$work/allocate.py" <<'PYTHON'
import importlib
import sys

import cffi

builder = cffi.FFI()
builder.cdef("""
struct block { char bytes[64]; ...; };
struct block *own(void);
""")
builder.set_source(
    "binding",
    """
struct block { char bytes[64]; } __attribute__((aligned(64)));
static struct block memory;
static struct block *own(void) { return &memory; }
""",
)
builder.compile(tmpdir=sys.argv[1])
sys.path.insert(0, sys.argv[1])
binding = importlib.import_module("binding")
ffi = binding.ffi


def off(block):
    return int(ffi.cast("uintptr_t", block)) % 64


blocks = [ffi.new("struct block *") for _ in range(1000)]
alignment, own = ffi.alignof("struct block"), off(binding.lib.own())
wrong = sorted({off(block) for block in blocks} - {0})
print(f"alignof: {alignment}, C's own block is off by {own}, some of ffi.new by {wrong}")
if alignment != 64 or own or not wrong:
    sys.exit("changed: see above")
PYTHON
"$work/venv/bin/python" "$work/allocate.py" "$work"
