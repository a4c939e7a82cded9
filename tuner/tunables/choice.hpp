// Chooses glibc's thresholds for all sizes at once, from the worth of each method at each size.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/statistics.hpp"
#include "machine/libc.hpp"
#include "tunables/ways.hpp"

namespace asterope {

/// The thresholds that this glibc lets us set.
struct Knobs {
    CopyThresholds now;               ///< The present thresholds.
    Tunable rep_movsb, non_temporal;  ///< Their limits in glibc.
    std::optional<Tunable> stop = {}; ///< Empty where this glibc lacks it.
    bool stop_follows = false;        ///< A stop without a tunable is always the non-temporal
                                      ///< threshold.

    /// The thresholds that hold where these are set.
    CopyThresholds with(std::size_t rep_movsb, std::size_t non_temporal, std::size_t stop) const;
    /// The thresholds of `wanted` that differ from those now.
    LibcThresholds changes(const CopyThresholds& wanted) const;
};

/// The default's time over that of another method, as the workloads are weighed.
struct WayResult {
    Way way;
    Estimate ratio;
    double least; ///< of the ratios under the workloads that count
    double worth; ///< see worth_of()
};

/// The ways of one size besides the default's.
struct SizeWays {
    std::size_t size;
    Way now;        ///< the default's
    Estimate floor; ///< one default process's time over another's
    std::vector<WayResult> ways;

    /// 0 of the default's way, and of one that was not timed.
    double worth(Way way) const;
};

/// A tunable is changed where that brings at least so much, summed over the sizes: as much as a
/// gain of 2 % at one of them.
inline constexpr double kLeastWorth = 0.02;

/// The thresholds that are worth most over all sizes (ascending), each between two of these or
/// beyond them, and within its limits. Among equals, those win that change fewest tunables, then
/// those nearest to the present ones. All combinations are gone through: they are only some ten
/// thousand.
CopyThresholds choose_thresholds(const Knobs& knobs, const std::vector<SizeWays>& sizes);

} // namespace asterope
