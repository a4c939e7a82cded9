// Each sample goes through the run's timings, which count and watch it.
#include "run/time_rounds.hpp"

#include <algorithm>

namespace asterope {

Paired time_rounds(const RoundsAsked& asked, RunTimings& timings, TimingsBy& source) {
    source.time_by(
        [&](const SampleRequest& sample) { return asked.time(sample.entrant, sample.round); },
        asked.sample_cost, asked.watched);
    // Each call is a step, so that it has a limit of repeats of its own. Nothing is logged, so any
    // step does.
    timings.enter(LoggedStep{Step::pipelines});
    timings.calibration(0, Workload{});
    std::vector<TimedCopy> copies(std::ranges::max(asked.entrants).index() + 1);
    for (const Entrant entrant : asked.entrants) {
        if (asked.cache_effect) copies[entrant.index()].cache_effect = asked.cache_effect(entrant);
    }
    return Paired(asked.entrants, {Workload{}}, asked.rounds, 0, {timings, copies, {}});
}

} // namespace asterope
