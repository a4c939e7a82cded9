// Each sample goes through the run's timings, which count and watch it, and keeps its parts aside.
#include "run/time_rounds.hpp"

namespace asterope {

Paired time_rounds(const RoundsAsked& asked, RunTimings& timings, TimingsBy& source) {
    std::vector<double> parts; // of the last sample
    source.time_by(
        [&](const SampleRequest& sample) {
            parts = asked.time(sample.entrant, sample.round);
            return parts.front();
        },
        asked.sample_seconds);
    // Each call is a step, so that it has a limit of repeats of its own. Nothing is logged, so any
    // step does.
    timings.enter(LoggedStep{Step::pipelines});
    timings.calibration(0, Workload{});
    return Paired(
        asked.entrants, {Workload{}}, asked.rounds, 0,
        [&](int entrant, Workload workload, std::uint64_t round) {
            timings.sample({TimedCopy{}, entrant, 0, workload, round});
            return parts;
        },
        asked.cache_effect,
        [&] {
            if (asked.repeats_disturbed) return timings.round_ended().again;
            timings.progress.advance(asked.sample_seconds *
                                     static_cast<double>(asked.entrants.size()));
            return false;
        });
}

} // namespace asterope
