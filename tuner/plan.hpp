// The plan: a tuning request whose every word has been understood.
#pragma once

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
    CallStatistics statistics;
    std::optional<SourceMap> source_map;

    /// What the winners are chosen for: the objective, and where that is a mix, each workload in it
    /// by itself, for the entry points by intent. All with the workloads that are only measured.
    std::vector<Objective> objectives() const;
    /// What can be timed at all: nothing writes to a mapped source.
    std::vector<Workload> measured() const;
};

} // namespace asterope
