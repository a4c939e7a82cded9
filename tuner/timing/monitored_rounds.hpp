// Rounds of a comparison under watch: what hit them, which are timed again, and what stays
// doubtful.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "timing/disturbance_monitor.hpp"
#include "timing/disturbed_rounds.hpp"

namespace asterope {

/// For all that times copies and keeps no log. One for a whole command, so that it accounts for
/// everything that was timed.
class MonitoredRounds {
  public:
    explicit MonitoredRounds(DisturbanceMonitor watch) : monitor_(std::move(watch)) {}
    /// Of this machine and the CPU that the thread is pinned to. start_clock() comes first.
    explicit MonitoredRounds(int cpu) : MonitoredRounds(DisturbanceMonitor(cpu)) {}

    /// Another comparison begins: see DisturbedRounds::enter_step. Forgets a round that was not
    /// ended.
    void enter_step();

    /// Calls `timed`, a trial of the present round, and returns what it returns.
    template <class Timed> auto time(const Timed& timed) {
        begin_trial();
        auto result = timed();
        end_trial();
        return result;
    }

    /// Ends the round. True: it is to be timed again, and its trials do not count.
    bool disturbed();

    DisturbanceCounts facts() const { return disturbed_rounds_.facts(); }

    /// Prints the warning of noise_warning() on stderr, where there is one.
    void warn(const std::string& result) const;

  private:
    void begin_trial();
    void end_trial();

    DisturbanceMonitor monitor_;
    DisturbedRounds disturbed_rounds_;
    bool in_round_ = false;
    double round_seconds_ = 0;
    std::chrono::steady_clock::time_point trial_began_ = {};
};

} // namespace asterope
