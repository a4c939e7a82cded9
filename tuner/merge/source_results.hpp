// SourceResults: what one search measured of each candidate, from its profile or its whole log.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "merge/merge_source.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// How one candidate did under one workload.
struct MeasuredGain {
    double log_ratio; ///< log of the reference's time over its own; above 0 is faster
    double error;     ///< its standard error
    std::size_t rounds;
    double ns, reference_ns; ///< medians, a call; 0: not known
};

/// Everybody who was measured in one race, by name, under each workload.
using MeasuredGains = std::map<Workload, std::map<std::string, MeasuredGain>>;

/// All races of one search. A profile tells of those that came close to winning, half a dozen a
/// size; a log of all that were timed, however seldom. The reference is libc, but where it is said.
struct SourceResults {
    /// Throws BadInput where the source's log or profile holds what no search writes.
    explicit SourceResults(const MergeSource& source);

    std::map<std::size_t, MeasuredGains> pipelines;
    MeasuredGains small, overlapping;
    std::map<std::size_t, MeasuredGains> aliased; ///< the reference: the size's winner
    std::map<std::size_t, MeasuredGains> shared;  ///< the reference: one thread
};

/// A round's trials under one workload, as they came: name and nanoseconds. What was disturbed, and
/// timed once more for that, is in here once.
struct LoggedRound {
    Workload workload;
    std::vector<std::pair<std::string, double>> trials;
};
std::vector<LoggedRound> rounds_of(const std::vector<Record>& step);

/// Medians over the rounds, in each against the median of those whom `is_reference` names; what all
/// others of a round have in common is taken from them (see find_references). The error is that of
/// the median, from a spread that all share, as that of a few samples would be a matter of luck.
MeasuredGains gains_of(const std::vector<LoggedRound>& rounds,
                       bool (*is_reference)(const std::string& name));

} // namespace asterope
