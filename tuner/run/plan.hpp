// The plan: a tuning request whose every word has been understood.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "profile/search_options.hpp"
#include "run/tuning.hpp"
#include "search/objective.hpp"
#include "search/search.hpp"
#include "search/standing.hpp"
#include "space/operation.hpp"
#include "timing/distribution.hpp"
#include "timing/source_map.hpp"

namespace asterope {

struct Plan {
    /// That of the copies. Throws BadInput for the first thing that cannot be used.
    Plan(const TuningRequest& request, const Machine& machine);

    /// That of another operation of the same run: what is not a matter of copies alone is as in
    /// `copies`.
    Plan(Operation operation, const Plan& copies);

    Operation operation = Operation::copy;
    std::vector<Operation> operations; ///< of the whole run; copies first
    /// Up to which share of the time budget this operation may go on, counted from its beginning.
    double budget_share = 1;
    std::vector<std::size_t> sizes;     ///< that are searched, ascending
    std::vector<std::size_t> set_sizes; ///< of the copies' plan: those that sets are searched at
    Objective objective;
    bool extended, sensing;
    Weights small_weights;
    Standing standing; ///< what an earlier run on this machine chose, if anything
    Rigor rigor;
    std::size_t most_rows; ///< of the routine
    unsigned threads;      ///< that a copy may be shared among at most; 1: none is
    CallStatistics statistics;
    std::vector<Reference> references;     ///< of this operation
    std::vector<Reference> set_references; ///< of the copies' plan: those of sets
    bool maps_source;
    std::optional<SourceMap> source_map; ///< none when nothing is going to be timed, and of sets
    std::string log;                     ///< path of the trial log
    bool keeps_log;                      ///< once the profile is there
    std::optional<double> budget_seconds;

    /// Has the profile that stands take part.
    void take_part(const SearchOptions& options);

    /// The size whose winner the small copies hand over to.
    std::size_t handover_size() const;
    /// What the winners are chosen for: see with_intents.
    std::vector<Objective> objectives() const;
    /// All that decides what is found, for the log: with others it is another search.
    SearchOptions options() const;
    /// What can be timed at all: nothing writes to a mapped source.
    std::vector<Workload> measured() const;

  private:
    TuningRequest request_;
};

/// Where its trials go.
std::string log_of(const TuningRequest& request);

/// The request that a log with these options came from, to be replayed. Throws BadInput.
TuningRequest replayed_request(const SearchOptions& options);

} // namespace asterope
