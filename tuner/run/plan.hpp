// The plan: a tuning request whose every word has been understood.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "profile/search_options.hpp"
#include "run/references.hpp"
#include "run/tuning.hpp"
#include "search/objective.hpp"
#include "search/search.hpp"
#include "space/operation.hpp"
#include "timing/distribution.hpp"
#include "timing/source_map.hpp"

namespace asterope {

struct LogHeader;

struct Plan {
    /// The plan of the copies. Throws BadInput for the first thing that cannot be used.
    Plan(const TuningRequest& request, const Machine& machine);

    /// The plan of an operation of the same run.
    Plan(Operation operation, const Plan& copies);

    SearchOptions options; ///< all that decides the findings, of all operations, for the log
    Operation operation = Operation::copy;
    /// This operation may go on until this share of the time budget is spent.
    double budget_share = 1;
    std::vector<std::size_t> sizes; ///< that are searched, ascending
    Objective objective;
    bool extended;
    Weights small_weights;
    Rigor rigor;
    std::size_t most_rows; ///< of the routine
    unsigned threads;      ///< the most that share a copy; 1: copies are not shared
    CallStatistics statistics;
    /// By operation. Empty where nothing is going to be timed.
    std::array<std::vector<ExternalCopy>, kOperations.size()> references;
    std::optional<SourceMap> source_map; ///< empty when nothing is going to be timed, and for sets
    std::string log;                     ///< path of the sample log
    bool keeps_log;                      ///< once the profile is there
    std::optional<double> budget_seconds;

    /// The choices of an earlier run on this machine for the operation, if any.
    const Standing& standing() const { return options.of(operation).standing; }
    const std::vector<ExternalCopy>& own_references() const {
        return references[static_cast<std::size_t>(operation)];
    }
    /// The size whose winner the small copies hand over to.
    std::size_t handover_size() const;
    /// The objectives that winners are chosen for: see with_intents.
    std::vector<Objective> objectives() const;
    /// The workloads that can be timed: a mapped source cannot be written.
    std::vector<Workload> measured() const;

  private:
    void take_asked(const TuningRequest& request, const Machine& machine);
    void take_logged();
};

/// The path of the log of its samples.
std::string log_of(const TuningRequest& request);

/// The request that a log came from, to be replayed: quietly, and into no file.
TuningRequest replayed_request(const LogHeader& header);

} // namespace asterope
