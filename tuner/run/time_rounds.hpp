// Rounds of anything that can be timed. The caller chooses the entrants, the surroundings of a
// copy, and the figures of a sample.
#pragma once

#include <functional>
#include <vector>

#include "run/run_timings.hpp"
#include "timing/paired.hpp"
#include "timing/timings_by.hpp"

namespace asterope {

/// The entrants, the number of rounds, and the way to take a sample.
struct RoundsAsked {
    std::vector<Entrant> entrants; ///< listed copies, not kLibc; their indices may have gaps
    int rounds;
    double sample_cost; ///< as planned, in the unit of the progress line's plan
    /// Takes a sample: the seconds of the whole, then of each part.
    std::function<std::vector<double>(Entrant entrant, std::uint64_t round)> time;
    /// Entrants of one number leave the caches alike. Without the function, all do.
    std::function<int(Entrant entrant)> cache_effect = nullptr;
    /// Whether disturbed rounds are counted, and timed again. False where other threads copy, as
    /// the monitor sees disturbances of this thread alone.
    bool watched = true;
};

/// Takes the rounds. The caller has called `timings.go_on_with(source)`; this function sets how
/// `source` times.
Paired time_rounds(const RoundsAsked& asked, RunTimings& timings, TimingsBy& source);

} // namespace asterope
