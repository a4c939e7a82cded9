// The account of disturbed rounds, and which of them are timed again.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "timing/disturbance_monitor.hpp"

namespace asterope {

/// The disturbances of the rounds of a run.
struct DisturbanceCounts {
    std::size_t rounds = 0;   ///< All timed rounds, repeated ones included.
    std::size_t repeated = 0; ///< Rounds that were disturbed, so timed again.
    std::size_t kept = 0;     ///< Disturbed rounds that count nevertheless.
    /// How many rounds each kind hit: steal, preempted, migrated, frequency, clock, stalled.
    std::map<std::string, std::size_t> disturbed = {};
    bool provisional = false; ///< noise may have decided the result
    std::string reason = {};  ///< why it is provisional, in words that every reader repeats
};

/// The subject of the warning that a search and a profile give.
inline constexpr const char* kTheseWinners = "these winners are";

/// The advice where noise may have decided a result.
inline constexpr const char* kQuieter = "run again in a quieter hour, or on another CPU (--cpu N)";

/// The sentence in which every command warns that noise may have decided a result, without an end
/// of line. `result` as in kTheseWinners. Empty where `reason` is.
std::string noise_warning(const std::string& reason, const std::string& result);

/// Decides from the sequence of rounds alone, so that a run that is resumed from its log decides
/// as it did before.
class DisturbedRounds {
  public:
    /// Another step of the search begins. The repeats that it may have do not depend on earlier
    /// steps. A run out of time skips steps. A resumed run does them, so a later step has more
    /// steps before it.
    void enter_step();

    /// Notes the disturbances of the round that just ended, if any, and its duration. Returns true
    /// if it is to be timed again. Its samples do not count then.
    bool round_ended(const std::vector<Disturbance>& hits, double seconds = 0);

    DisturbanceCounts facts() const;

    /// Prints the warning of noise_warning() on stderr, if there is one.
    void warn(const std::string& result) const;

  private:
    DisturbanceCounts counts_; ///< without the facts that follow from them
    /// Of this step.
    struct Account {
        std::size_t counted = 0, repeated = 0;
        double counted_seconds = 0, repeated_seconds = 0;
    } step_;
    int in_a_row_ = 0; ///< repetitions of the present round
};

} // namespace asterope
