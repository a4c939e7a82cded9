// Timings as a race asks for them, from figures; the progress line and the noise see them pass.
#include "search/search_timings.hpp"

#include <utility>

namespace asterope {

double SearchTimings::seconds(std::size_t size, Workload workload, Entrant entrant,
                              std::uint64_t round) {
    const TrialKey key{size, workload, entrant < 0 ? "libc" : field_.name(entrant), round};
    const Trial trial = context_.figures.trial(key, [&](Instruments& instruments) {
        return field_.seconds(instruments, size, workload, entrant, round);
    });
    ++context_.trials;
    round_seconds_ += trial.us * 1e-6;
    if (trial.recorded) context_.recorded_seconds += trial.us * 1e-6;
    const double seconds = trial.ns * 1e-9;
    context_.progress.advance(seconds * static_cast<double>(field_.calls(size, workload)),
                              trial.recorded);
    return seconds;
}

bool SearchTimings::disturbed() {
    const double seconds = std::exchange(round_seconds_, 0);
    return context_.noise.round_ended(context_.figures.round_ended(), seconds);
}

void SearchTimings::enter(Stage stage) {
    if (by_stage_) context_.spent.enter(stage == Stage::screening ? "screening" : "run-off");
}

} // namespace asterope
