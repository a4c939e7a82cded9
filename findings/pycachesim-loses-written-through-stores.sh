#!/usr/bin/env bash
# pycachesim loses every store where the last level is write-through: none reaches memory.
#
# Version: pycachesim 0.3.1 (PyPI).
# Expected: https://github.com/RRZE-HPC/pycachesim/blob/master/README.rst lists write-through caches
#   without write-allocate among what is simulated. Such a cache hands each store on. So a loop that
#   fills 1 MiB stores 1 MiB to memory, whatever the cache's policy.
# Seen: with write-back it is 1 MiB, in 16,384 lines. With write-through as the last level, memory
#   has no store at all, though the cache's own statistics have all of them. An L2 between receives
#   the stores of a write-through L1. A comparison of write policies, or of non-temporal stores
#   modelled so, says that they cost no memory traffic.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
{ python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check pycachesim==0.3.1; } ||
    { echo "cannot install the package" >&2; exit 2; }

"$work/venv/bin/python" - <<'PYTHON'
import sys

from cachesim import Cache, CacheSimulator, MainMemory

SIZE = 1 << 20
BACK, THROUGH = {}, {"write_back": False, "write_allocate": False}


def stored(*policies):
    """The bytes that each level is told to store, L1 first and memory last."""
    memory, lower = MainMemory(), None
    for level, policy in reversed(list(enumerate(policies, 1))):
        links = {"store_to": lower, "load_from": lower} if lower else {}
        cache = Cache(f"L{level}", 64 << level, 8, 64, "LRU", **policy, **links)
        if not lower:
            memory.load_to(cache)
            memory.store_from(cache)
        lower = cache
    simulator = CacheSimulator(lower, memory)
    for address in range(0, SIZE, 8):
        simulator.store(address, length=8)
    simulator.force_write_back()
    return [level["STORE_byte"] for level in simulator.stats()]


CASES = {
    "write-back": (stored(BACK), [SIZE, SIZE]),
    "write-through": (stored(THROUGH), [SIZE, 0]),
    "write-through, write-back": (stored(THROUGH, BACK), [SIZE, SIZE, SIZE]),
    "write-back, write-through": (stored(BACK, THROUGH), [SIZE, SIZE, 0]),
}
for name, (seen, _) in CASES.items():
    print(f"{name}: {seen[-1]} bytes stored to memory, {seen[:-1]} to the caches")
changed = [name for name, (seen, stated) in CASES.items() if seen != stated]
if changed:
    sys.exit("changed: " + "; ".join(changed))
PYTHON
