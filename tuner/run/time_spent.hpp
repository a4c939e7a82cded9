// Accounts of where a run's time goes.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "search/step.hpp"

namespace asterope {

/// One phase at a time: whoever enters the next ends the one before.
class TimeSpent {
  public:
    void enter(Step phase) {
        settle();
        phase_ = phase;
    }

    /// Seconds by phase, in the order in which they were first entered.
    const TimeAccount& phases() {
        settle();
        return phases_;
    }

  private:
    using Clock = std::chrono::steady_clock;

    void settle() {
        const auto now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - since_).count();
        since_ = now;
        if (!phase_) return;
        const auto same = std::find_if(phases_.begin(), phases_.end(),
                                       [&](const auto& one) { return one.first == *phase_; });
        if (same == phases_.end()) {
            phases_.emplace_back(*phase_, seconds);
        } else {
            same->second += seconds;
        }
    }

    std::optional<Step> phase_;
    Clock::time_point since_ = Clock::now();
    TimeAccount phases_;
};

} // namespace asterope
