"""AArch64, for tests of what no other architecture has."""

from __future__ import annotations

from pathlib import Path

from architectures import AARCH64, WITH_SVE, WITHOUT_SVE  # noqa: F401 (of other tests)

(COMPILER,) = AARCH64.gcc
CLANG = AARCH64.clang
PLAIN, SET = AARCH64.plain, AARCH64.set_pipelines.Tuple

# For the head of each test file; of the second kind where daily work elsewhere does without.
needs_emulator = AARCH64.marks(slow=False)
needs_emulator_and_time = AARCH64.marks(slow=True)


def emulated(cpu: str = WITH_SVE, *options: object) -> tuple[object, ...]:
    """The beginning of a command that runs a program on that CPU."""
    return (*AARCH64.emulated(cpu), *options)


def features_of(cpu: str) -> frozenset[str]:
    return AARCH64.features_of(cpu)


def cross_compiled(folder: Path, name: str, *flags: object) -> Path:
    return AARCH64.compiled(folder, name, *flags)
