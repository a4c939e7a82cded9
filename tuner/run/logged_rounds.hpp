// The trials of a logged step, grouped into the rounds in which they were timed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/trial_log.hpp"

namespace asterope {

/// Trials that were timed together, under one workload.
struct LoggedRound {
    Workload workload{};
    std::uint64_t number = 0;
    std::vector<std::pair<std::string, double>> trials; ///< candidate or "libc"; ns a call
};

/// Takes the records of one step in the order of the log. Of a round that was disturbed and timed
/// again, only the last try counts. References are left out: other logs need not have them.
class RoundCollector {
  public:
    /// Returns the round before, where `record` is the first trial of another.
    std::optional<LoggedRound> add(const Record& record);
    /// Returns the step's last round, and begins another step.
    std::optional<LoggedRound> finish();

  private:
    LoggedRound round_;
    bool disturbed_ = false; ///< the round's last try
};

/// All rounds of a step.
std::vector<LoggedRound> rounds_of(const std::vector<Record>& step);

} // namespace asterope
