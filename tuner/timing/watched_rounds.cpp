// Rounds of a comparison under watch: what hit them, which are timed again, and what stays
// doubtful.
#include "timing/watched_rounds.hpp"

#include <cstdio>

namespace asterope {

void WatchedRounds::enter_step() {
    in_round_ = false;
    round_seconds_ = 0;
    noise_.enter_step();
}

void WatchedRounds::begin_trial() {
    if (!in_round_) watch_.begin_round();
    in_round_ = true;
    trial_began_ = std::chrono::steady_clock::now();
}

void WatchedRounds::end_trial() {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - trial_began_;
    round_seconds_ += took.count();
}

bool WatchedRounds::disturbed() {
    if (!in_round_) return false;
    in_round_ = false;
    return noise_.round_ended(watch_.end_round(), std::exchange(round_seconds_, 0));
}

void WatchedRounds::warn(const std::string& result) const {
    const std::string warning = noise_.warning(result);
    if (!warning.empty()) std::fprintf(stderr, "%s\n", warning.c_str());
}

} // namespace asterope
