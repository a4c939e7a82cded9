// Utility: what a copy's speed beside the reference is worth to a choice that hates losing.
#pragma once

#include <algorithm>

#include "space/limits.hpp"

namespace asterope {

/// What `log_ratio`, the logarithm of the reference's time over the copy's, is worth: itself where
/// the copy gains or its loss is inside the `noise`; of a loss beyond, each further step counts up
/// to kLossFactor times. The change is smooth, over kLossOnset: with a step, a copy that loses 14 %
/// and one that loses 4 % would be treated alike on either side of it, and noise would decide which
/// side a copy is on.
inline double utility(double log_ratio, double noise = kLossNoise) {
    const double loss = std::max(0.0, -log_ratio - noise);
    return log_ratio - (kLossFactor - 1) * loss * loss / (loss + kLossOnset);
}

} // namespace asterope
