// The ways in which glibc's memcpy copies, the thresholds that choose them, and the choice of these
// for all sizes at once.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "machine/libc.hpp"

namespace asterope {

/// The two kinds of non-temporal stores take two and four pages side by side.
enum class Way { vector, rep_movsb, non_temporal_2, non_temporal_4 };
inline constexpr Way kWays[] = {Way::vector, Way::rep_movsb, Way::non_temporal_2,
                                Way::non_temporal_4};

/// The name in the JSON: "rep_movsb".
const char* name_of(Way way);
/// The name in tables: "rep movsb".
const char* words_of(Way way);

/// Bytes. Sizes above `rep_movsb` and below `stop` take `rep movsb`. Other sizes above
/// `non_temporal` are stored past the caches: sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S
/// of glibc.
struct CopyThresholds {
    std::size_t rep_movsb, stop, non_temporal;
    bool operator==(const CopyThresholds&) const = default;
};

/// Larger than any copy.
inline constexpr std::size_t kNever = std::size_t{1} << 50;

/// The thresholds that a process says hold there (RemoteCopy::thresholds). Where it knows no stop,
/// that is the non-temporal threshold, as on all processors but AMD's.
CopyThresholds copy_thresholds(const LibcThresholds& thresholds);

Way way_of(const CopyThresholds& thresholds, std::size_t size);

/// "rep movsb above 2112 B and below 1 MiB, non-temporal stores above 288 MiB, else the vector
/// loop".
std::string describe(const CopyThresholds& thresholds);

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

/// The tunables that can be set. Throws BadInput where this libc lacks them. `why`: why they could
/// not be listed.
Knobs knobs_of(const std::string& libc, const std::map<std::string, Tunable>& tunables,
               const std::string& why);

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
