// Utility: the worth of a copy's speed beside the reference, for a choice that avoids losses.
#pragma once

#include <algorithm>
#include <cmath>

#include "space/limits.hpp"

namespace asterope {

/// The utility of `log_ratio`, the logarithm of the reference's time over the copy's. It is
/// `log_ratio` itself where the copy gains or its loss is inside the `noise`. Each further percent
/// of a loss counts up to kLossFactor times. The change is smooth, over kLossOnset. (Rejected: a
/// sudden jump. Losses of 4 % and 14 % beyond it would count alike, and noise would decide which
/// copies cross it.)
inline double utility(double log_ratio, double noise = kLossNoise) {
    const double loss = std::max(0.0, -log_ratio - noise);
    return log_ratio - (kLossFactor - 1) * loss * loss / (loss + kLossOnset);
}

/// Short calls differ by so much with the place where the linker put the code, about two
/// cycles. Sets of 8 bytes by one routine at nine addresses took 2.7 to 3.2 ns (a Zen 4). From run
/// to run all small copies of one size moved by as much beside libc.
inline constexpr double kPlacementNs = 0.5;

/// The logarithm of a ratio. `ratio`: the reference's time over the copy's. `ns`: the copy's time.
/// The reference's time is first brought nearer to the copy's, by as much as placement may cost.
inline double beyond_placement(double ratio, double ns) {
    const double difference = ns * ratio - ns;
    const double beyond = std::max(0.0, std::abs(difference) - kPlacementNs);
    return std::log1p(std::copysign(beyond, difference) / ns);
}

} // namespace asterope
