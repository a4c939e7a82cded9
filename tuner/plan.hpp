// The plan: a tuning request whose every word has been understood.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "distribution.hpp"
#include "machine.hpp"
#include "objective.hpp"
#include "search.hpp"
#include "source_map.hpp"
#include "tuning.hpp"

namespace asterope {

struct Plan {
    /// Throws BadInput for the first thing that cannot be used.
    Plan(const TuningRequest& request, const Machine& machine);

    Objective objective;
    bool extended, sensing;
    std::string small_objective;
    Weights small_weights;
    Rigor rigor;
    std::vector<std::size_t> sizes; ///< ascending
    unsigned threads;               ///< that a copy may be shared among at most; 1: none is
    CallStatistics statistics;
    bool maps_source;
    std::optional<SourceMap> source_map; ///< none when nothing is going to be timed
    std::string log;                     ///< path of the trial log
    bool keeps_log;                      ///< once the profile is there
    std::optional<double> budget_seconds;

    /// What the winners are chosen for: see with_intents.
    std::vector<Objective> objectives() const;
    /// All that decides what is found, for the log: with others it is another search.
    nlohmann::json options() const;
    /// What can be timed at all: nothing writes to a mapped source.
    std::vector<Workload> measured() const;

  private:
    TuningRequest request_;
};

/// The request that a log with these Plan::options() came from, to be replayed. Throws BadInput.
TuningRequest replayed_request(const nlohmann::json& options);

} // namespace asterope
