// Ranks candidates by what several machines measured of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "merge/source_results.hpp"
#include "search/objective.hpp"
#include "search/race.hpp"

namespace asterope {

/// As in a race.
struct Rules {
    double worst_ratio = kWorstRatio; ///< what a candidate may lose; 0: anything
    TieBand ties;
};

/// One candidate that was measured on all machines.
struct Ranked {
    std::string name;
    double mean;                ///< log ratio: weighted over the workloads, all machines alike
    double error;               ///< its standard error
    bool settled;               ///< timed more than once or twice on each machine
    bool acceptable;            ///< loses more than Rules::worst_ratio nowhere, on no machine
    bool tied;                  ///< as good as the first within the noise
    std::vector<double> scores; ///< by machine: log ratio, weighted over the workloads

    /// What it is surely worth: who was timed less often must be that much better.
    double sure() const { return mean - 3 * error; }
};

/// The candidates that every one of `machines` measured under all workloads that count in
/// `weights`, the winner first, the others as they follow: who was timed thrice on each before who
/// was not (of thousands that were timed once some look best by luck alone), what loses nowhere
/// before what does, then by what they are surely worth. Ties go to `favourite`, else to the first
/// by `place`, the order of simplicity. Who has no place is left out.
std::vector<Ranked> rank(const std::vector<const MeasuredGains*>& machines, const Weights& weights,
                         const std::string& favourite,
                         const std::map<std::string, std::size_t>& place, const Rules& rules = {});

} // namespace asterope
