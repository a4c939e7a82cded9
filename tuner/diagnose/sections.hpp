// All sections of a diagnosis, and the computations behind them that can be tested.
#pragma once

#include <string>
#include <vector>

#include "diagnose/section.hpp"
#include "timing/workload.hpp"

namespace asterope::diagnosis {

Section working_set(const Context& context);
Section critical_stride(const Context& context);
Section misalignment(const Context& context);
Section aliasing(const Context& context);
Section store_forwarding(const Context& context);
Section huge_pages(const Context& context);
Section contents(const Context& context);
Section single_timings(const Context& context);
Section identical(const Context& context);

struct NamedSection {
    const char* name;
    Section (*measure)(const Context& context);
};

/// In the order in which they are run.
inline constexpr NamedSection kSections[] = {
    {"working_set", working_set},
    {"critical_stride", critical_stride},
    {"misalignment", misalignment},
    {"aliasing", aliasing},
    {"store_forwarding", store_forwarding},
    {"huge_pages", huge_pages},
    {"contents", contents},
    {"single_timings", single_timings},
    {"identical", identical},
};

/// The innermost cache in which a copy of `bytes` has both its sides: "L1", or "memory".
std::string fits_in(std::size_t bytes, const std::vector<Cache>& caches);

/// Buffers so many bytes apart fall into the same sets of a cache.
struct CriticalStride {
    int level;
    std::size_t bytes;
    std::size_t buffers; ///< to copy in turn: at least twice as many as the cache has ways
    /// Bytes from the first to the last of them, a line further apart.
    std::size_t span() const { return (bytes + 64) * buffers; }
};
/// The stride of each cache of known ways. Of caches with the same stride, the outermost one is
/// kept.
std::vector<CriticalStride> critical_strides(const std::vector<Cache>& caches);

/// Single calls of one copy: their median and 99.9th percentile in seconds.
struct Spread {
    std::size_t size;
    std::string beside; ///< kAlone, or what ran meanwhile
    std::string copy;   ///< "libc", "winner", ..
    double median, tail;
};
inline constexpr const char* kAlone = "alone";
/// How far the slowest call in 1000 is from the median, for libc and the winner, and the
/// neighbour's effect on their medians.
std::string spread_verdict(const std::vector<Spread>& spreads);

/// Races of one size and workload in which every candidate was libc's memcpy. Its figures are
/// logarithms of ratios, one for each race.
struct SelfRaces {
    std::size_t size;
    Workload workload;
    std::vector<double> leads;  ///< libc's time over the winner's
    std::vector<double> floors; ///< how far libc seems from itself at most (95 %)

    double largest_lead() const;
    double largest_floor() const;
    /// The number of races whose winner led by more than their floor, and by more than
    /// TieBand::never.
    std::size_t won_by_luck() const;
};
/// The number of races whose winner was due to luck, and the largest lead.
std::string self_races_verdict(const std::vector<SelfRaces>& all);

} // namespace asterope::diagnosis
