// Accounts of where a run's time goes.
#pragma once

#include <chrono>
#include <optional>

#include "base/contains.hpp"
#include "timing/step.hpp"

namespace asterope {

/// One phase at a time: entering the next phase ends the one before.
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
        if (phase_) entry_in(phases_, *phase_) += seconds;
    }

    std::optional<Step> phase_;
    Clock::time_point since_ = Clock::now();
    TimeAccount phases_;
};

} // namespace asterope
