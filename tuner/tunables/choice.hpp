// The ways in which glibc's memcpy copies, which of them its thresholds choose for a size, and
// which thresholds are the best for all sizes at once.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/libc.hpp"
#include "timing/remote_copy.hpp"

namespace asterope {

/// The two kinds of non-temporal stores take two and four pages side by side.
enum class Way { vector, rep_movsb, non_temporal_2, non_temporal_4 };
inline constexpr Way kWays[] = {Way::vector, Way::rep_movsb, Way::non_temporal_2,
                                Way::non_temporal_4};

/// As in the JSON: "rep_movsb".
const char* name_of(Way way);
/// As in tables: "rep movsb".
const char* words_of(Way way);

/// Bytes. Above `rep_movsb` and below `stop` it is `rep movsb`. Of the other sizes, those above
/// `non_temporal` are stored past the caches: sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S
/// of glibc.
struct CopyThresholds {
    std::size_t rep_movsb, stop, non_temporal;
    bool operator==(const CopyThresholds&) const = default;
};

/// Larger than any copy.
inline constexpr std::size_t kNever = std::size_t{1} << 50;

/// Of what a process says that holds there (RemoteCopy::thresholds). Where it knows no stop, that
/// is the non-temporal threshold, as on all processors but AMD's.
CopyThresholds copy_thresholds(const LibcThresholds& thresholds);

Way way_of(const CopyThresholds& thresholds, std::size_t size);

/// "rep movsb above 2112 B and below 1 MiB, non-temporal stores above 288 MiB, else the vector
/// loop".
std::string describe(const CopyThresholds& thresholds);

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
