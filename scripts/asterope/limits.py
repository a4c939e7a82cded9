"""Bounds that Python and C++ both go by.

Usage: python -m asterope.limits OUTPUT (a build step: writes them as a header for C++)
"""

from __future__ import annotations

import sys
from pathlib import Path

from .spaces import aliased_copies, pipelines, probes

# No candidate wins that loses more than this to libc in one workload while another does not.
WORST_RATIO = 0.97

_HEADER = f"""\
// Bounds that Python and C++ both go by; written by scripts/asterope/limits.py.
#pragma once

#include <cstddef>

namespace asterope {{

/// Bytes from which on a candidate copies right; what is below belongs to the small copies.
inline constexpr std::size_t kMinimumBytes = {pipelines.MINIMUM_BYTES};

/// Bytes from which on a copy for aliasing buffers copies right.
inline constexpr std::size_t kAliasedMinimum = {aliased_copies.MINIMUM_BYTES};

/// Bytes from which on a copy may sense: below, the probe costs too much of it.
inline constexpr std::size_t kSensingMinimum = {probes.MINIMUM_BYTES};

/// No candidate wins that loses more than this to libc in one workload while another does not.
inline constexpr double kWorstRatio = {WORST_RATIO};

}} // namespace asterope
"""

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(_HEADER, encoding="ascii")
