"""What copies took against what asterope-record says: runs copies.c as it is, and with a memcpy
that returns at once. The difference of their times is the truth, up to the noise of the machine.

Usage: python scripts/experiments/recording/truth.py [BUILD_FOLDER]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNS = 5
NOTHING = """\
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t bytes) { return (void)from, (void)bytes, to; }
"""
# label, then calls, size, MiB, rounds: as copies.c takes them
CASES = (
    ("16 bytes each time, one buffer", 20_000_000, 16, 0, 2),
    ("1 to 16 bytes, one buffer", 20_000_000, -16, 0, 2),
    ("1 to 128 bytes, one buffer", 20_000_000, -128, 0, 4),
    ("1 to 1,000 bytes, one buffer", 20_000_000, -1000, 0, 4),
    ("4 KiB, one buffer", 1_000_000, 4096, 0, 50),
    ("4 KiB, nothing cached", 1_000_000, 4096, 256, 100),
    ("64 KiB, one buffer", 200_000, 65536, 0, 500),
    ("64 KiB, nothing cached", 100_000, 65536, 256, 500),
    ("8 MiB, one buffer", 1_000, 8 << 20, 0, 1000),
)


def cpu_seconds(command: list[str], **environment: str) -> float:
    """User time alone: the system's is that of fresh memory, which is not copied."""
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"truth.py: {command[0]} failed")
    return usage.ru_utime


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parents[2] / "build").resolve()
    with tempfile.TemporaryDirectory() as folder:
        program, nothing, recording = (f"{folder}/{name}" for name in ("copies", "n.so", "r.json"))
        flags = ["cc", "-O2", "-fno-builtin"]
        subprocess.run([*flags, str(HERE / "copies.c"), "-o", program], check=True)
        subprocess.run(
            [*flags, "-shared", "-fPIC", "-xc", "-", "-o", nothing],
            input=NOTHING.encode(),
            check=True,
        )
        print("| copies | took | recording says |\n|---|---|---|")
        for label, calls, *settings in CASES:
            command = [program, str(calls), *map(str, settings)]
            copying, idle = [], []
            for _ in range(RUNS):
                copying.append(cpu_seconds(command))
                idle.append(cpu_seconds(command, LD_PRELOAD=nothing))
            subprocess.run(
                [str(build / "asterope-record"), "-o", recording, "--", *command],
                check=True,
                capture_output=True,
            )
            said = json.loads(Path(recording).read_text())["copy_seconds"]
            low, value, high = (
                f"{said[end] / calls * 1e9:,.3g}"
                if said[end] / calls < 1e-6
                else f"{said[end] / calls * 1e9:,.0f}"
                for end in ("low", "value", "high")
            )
            took = (min(copying) - min(idle)) / calls * 1e9
            print(f"| {label} | {took:,.1f} ns | {value} ns ({low} to {high}) |", flush=True)


if __name__ == "__main__":
    main()
