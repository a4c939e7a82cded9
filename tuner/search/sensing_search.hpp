// Copies that sense whether their data is cached: a probe's readings and threshold, and the
// pipelines behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/race.hpp"
#include "search/search.hpp"
#include "space/candidates.h"
#include "space/space.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// Readings of a probe, in ticks of the time stamp counter: of sides that are cached, and of sides
/// that are not.
struct Readings {
    std::vector<double> cached, uncached;
};

/// Above `ticks` the data counts as uncached.
struct Threshold {
    std::uint32_t ticks;
    double cached_ticks;   ///< the 90th percentile of cached readings
    double uncached_ticks; ///< the 20th percentile of uncached ones
};

/// Midway between the two percentiles, by ratio. Empty where they are less than a quarter apart:
/// such a probe would guess.
std::optional<Threshold> find_threshold(const Readings& readings);

/// The same from the two percentiles.
std::optional<Threshold> threshold_between(double cached_ticks, double uncached_ticks);

/// A threshold, and indices of the sizes at which it may be used.
struct SharedThreshold {
    Threshold threshold = {};
    std::vector<std::size_t> sizes = {};
};

/// The threshold that as many sizes as possible share, by the readings at each. The time of a probe
/// depends on the place of data, not on its amount. So larger sizes without a threshold of their
/// own use it, too, if four of five of their uncached readings exceed it. (Data that large leaves a
/// cache that other virtual machines use, too, and seldom reads as cached.) The timing of copies
/// tells whether one should sense there. Empty where no size has cached and uncached readings that
/// differ.
std::optional<SharedThreshold> common_threshold(const std::vector<Readings>& by_size);

/// The number of pipelines behind a probe. It is 2, or 3 where the probe looks at the destination
/// behind an uncached source, or 4 where it looks at both sides.
std::size_t pipelines_behind(const asterope_copy& probe);

/// Whether copies of that size behind the probe remember call sites, and go on with the stores that
/// serve each site's program where destinations are uncached. Sets do so at any size.
bool heeds_sites(const asterope_copy& probe, std::size_t size);

/// A copy that probes where its data is, then goes on with one of its pipelines.
struct SensingCopy {
    const asterope_copy* probe;
    Candidate hot, cold;
    Threshold threshold;
    std::optional<Candidate> fetch = {};   ///< of a probe that looks at the destination, too
    std::optional<Candidate> produce = {}; ///< of one that looks there behind cached sources, too

    /// The pipeline for cached destinations behind uncached sources, or for untouched pages.
    const Candidate& on_fetched() const;

    /// `probe->copy` gets the address of these.
    asterope_sensing arguments() const;
    /// `arguments` must outlive it. Its cache effect is the cold pipeline's. A memset has the hot
    /// one's. It takes that one in new memory, and until it has learned its call site's stores.
    TimedCopy timed(const asterope_sensing& arguments) const;
    /// "source 4 > 187: YMM T NT T0 2 16, else YMM T T none 0 0"; with a third pipeline
    /// "each 4 > 187: YMM T NT T0 2 16, fetch REP_MOVSB T T none 0 0, else YMM T T none 0 0"; a
    /// fourth one stands before that as "produce YMM T NT none 0 0".
    std::string name() const;
};

/// A copy function that only collects the readings of `probe` on its way, and then copies by
/// `copy`. It is timed like any other, with its own address as the last argument.
struct ReadingCopy {
    const asterope_copy& probe;
    const TimedCopy& copy;
    ProbeTicks ticks;

    static void* run(void* destination, const void* source, std::size_t bytes, std::size_t self);
};

/// A sensing copy that a row takes, and how it did at one of its sizes.
struct SensingResult {
    SensingCopy copy;
    Finalist finalist;
};

} // namespace asterope
