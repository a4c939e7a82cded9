// Chooses glibc's thresholds for all sizes at once, from what each way of copying is worth at each.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "machine/libc.hpp"
#include "tunables/ways.hpp"

namespace asterope {

/// What this glibc lets us set.
struct Knobs {
    CopyThresholds now;               ///< as it is
    Tunable rep_movsb, non_temporal;  ///< with limits that glibc takes
    std::optional<Tunable> stop = {}; ///< where this glibc has it
    bool stop_follows = false;        ///< what is no tunable is always the non-temporal threshold

    /// What holds where these are set.
    CopyThresholds with(std::size_t rep_movsb, std::size_t non_temporal, std::size_t stop) const;
    /// Those of `wanted` that are not as they are now.
    LibcThresholds changes(const CopyThresholds& wanted) const;
};

/// What the ways are worth at one size, beside the default's.
struct SizeWorth {
    std::size_t size;
    std::map<Way, double> worth; ///< the default's way is worth 0; so is what is not in here
};

/// A tunable is changed where that brings at least so much, summed over the sizes: as much as a
/// gain of 2 % at one of them.
inline constexpr double kLeastWorth = 0.02;

/// The thresholds that are worth most over all sizes (ascending), each between two of these or
/// beyond them, and within its limits. Of equals it is what changes fewest tunables, then what is
/// nearest to what is. All combinations are gone through: there are only some ten thousand.
CopyThresholds choose_thresholds(const Knobs& knobs, const std::vector<SizeWorth>& sizes);

} // namespace asterope
