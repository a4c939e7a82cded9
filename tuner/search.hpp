// Finds the winner of one transfer size: drops the hopeless, then re-times the rest in a run-off.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "race.hpp"
#include "space.hpp"
#include "workload.hpp"

namespace asterope {

/// How much is spent on a size. Samples are trials for each workload.
struct Rigor {
    std::string name;
    /// Screening begins on these prefetch sizes and distances of each family (RT LT ST PT); empty:
    /// on all of them, and no family is dropped.
    std::vector<int> coarse_ps, coarse_pd;
    int families;          ///< families whose every size and distance is screened
    int screening_samples; ///< of each candidate before the first is dropped
    struct Cut {
        int keep, samples; ///< the best `keep` so far get `samples` more
    };
    std::vector<Cut> cuts;
    int finalists, rounds; ///< of the run-off
};

/// quick, standard or exhaustive. Throws BadInput for anything else.
Rigor parse_rigor(std::string_view text);

/// About how many trials of candidates a size costs, for each workload: for progress only.
std::size_t planned_trials(const Rigor& rigor, const std::vector<Candidate>& space);

/// Times and chooses. `entrants` are the valid indices of `space`; `neighbour` is the winner of the
/// next smaller size (or kLibc for none): it takes part in the run-off and wins ties; other ties go
/// to the simplest tuple, the first in the space.
SizeResult search_size(const std::vector<Candidate>& space, const std::vector<Entrant>& entrants,
                       std::size_t size, const std::vector<Workload>& workloads, const Rigor& rigor,
                       Entrant neighbour, std::mt19937_64& random, Timings& timings);

} // namespace asterope
