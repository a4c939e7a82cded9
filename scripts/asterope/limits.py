"""Bounds that Python and C++ both go by.

Usage: python -m asterope.limits ARCHITECTURE OUTPUT (a build step: writes them as a header for C++)
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import spaces
from .spaces import fresh, members, probes, threads

# A choice punishes a copy that loses to the reference under one workload, see utility().
LOSS_FACTOR = 4.0  # Each further step of a large loss has this weight. One of a gain has 1.
LOSS_NOISE = 0.01  # A loss counts as a gain does up to this logarithm of the ratio.
LOSS_ONSET = 0.03  # A loss this far beyond the noise has half of the further weight, on average.


def utility(log_ratio: float) -> float:
    """The worth to a choice of the logarithm of the reference's time over a copy's.

    The same as tuner/search/utility.hpp has it.
    """
    loss = max(0.0, -log_ratio - LOSS_NOISE)
    return log_ratio - (LOSS_FACTOR - 1) * loss * loss / (loss + LOSS_ONSET)


def header(architecture: str) -> str:
    """The bounds for C++, of the architecture's copies."""
    here = spaces.of(architecture)
    return f"""\
// Bounds that Python and C++ both go by; written by scripts/asterope/limits.py.
#pragma once

#include <cstddef>

namespace asterope {{

/// Bytes from which on a candidate copies right; what is below belongs to the small copies.
inline constexpr std::size_t kMinimumBytes = {here.pipelines.MINIMUM_BYTES};

/// Bytes from which on aliasing buffers may have a copy.
inline constexpr std::size_t kAliasedMinimum = {members.MINIMUM_OF_ALIASED};

/// Bytes from which on a copy may sense: below, the probe costs too much of it.
inline constexpr std::size_t kSensingMinimum = {probes.MINIMUM_BYTES};

/// Below so many bytes, copies that sense on both sides find out which stores serve a call site.
/// Sets that sense do so at any size.
inline constexpr std::size_t kHeededBelow = {here.HEEDED_BELOW};

/// Bytes of the smallest chunk that copies over threads take.
inline constexpr std::size_t kLeastChunk = {threads.LEAST_CHUNK};

/// Bytes from which on the pages of fresh memory are prepared for a copy, and those of a piece.
inline constexpr std::size_t kFreshMinimum = {fresh.LEAST_BYTES};
inline constexpr std::size_t kLeastPiece = {fresh.LEAST_PIECE}, kMostPiece = {fresh.MOST_PIECE};

/// How losses count, see search/utility.hpp.
inline constexpr double kLossFactor = {LOSS_FACTOR}; ///< the weight of each further step
inline constexpr double kLossNoise = {LOSS_NOISE};   ///< up to this logarithm one counts as a gain
/// A loss this far beyond the noise has half of the further weight, on average.
inline constexpr double kLossOnset = {LOSS_ONSET};

}} // namespace asterope
"""


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(header(sys.argv[1]), encoding="ascii")
