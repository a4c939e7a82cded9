// Rounds of a comparison under watch: what hit them, which are timed again, and what stays
// doubtful.
#include "timing/monitored_rounds.hpp"

#include <cstdio>

namespace asterope {

void MonitoredRounds::enter_step() {
    in_round_ = false;
    round_seconds_ = 0;
    disturbed_rounds_.enter_step();
}

void MonitoredRounds::begin_trial() {
    if (!in_round_) monitor_.begin_round();
    in_round_ = true;
    trial_began_ = std::chrono::steady_clock::now();
}

void MonitoredRounds::end_trial() {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - trial_began_;
    round_seconds_ += took.count();
}

bool MonitoredRounds::disturbed() {
    if (!in_round_) return false;
    in_round_ = false;
    return disturbed_rounds_.round_ended(monitor_.end_round(), std::exchange(round_seconds_, 0));
}

void MonitoredRounds::warn(const std::string& result) const {
    const std::string warning = disturbed_rounds_.warning(result);
    if (!warning.empty()) std::fprintf(stderr, "%s\n", warning.c_str());
}

} // namespace asterope
