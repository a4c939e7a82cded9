// Finds the winner of one transfer size: drops the hopeless, then re-times the rest in a run-off.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "space.hpp"
#include "statistics.hpp"
#include "workload.hpp"

namespace asterope {

/// Who is timed: an index into the space, or libc, which runs under two names. How far libc seems
/// to be from libc is the noise floor.
using Entrant = int;
inline constexpr Entrant kLibc = -1;
inline constexpr Entrant kLibcAgain = -2;

/// Where timings come from: the machine, a recorded log, or a test with known truth.
class Timings {
  public:
    virtual ~Timings() = default;
    /// Seconds a call of one trial. Trials of equal `round` are timed under equal conditions.
    virtual double seconds(std::size_t size, Workload workload, Entrant entrant,
                           std::uint64_t round) = 0;
};

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

/// What the run-off measured of one finalist under one workload.
struct Measured {
    double seconds, libc_seconds; ///< medians, a call
    Estimate ratio;               ///< libc's time over the finalist's, paired in each round
};

struct Finalist {
    Entrant candidate;
    std::map<Workload, Measured> workloads;
    double ratio; ///< geometric mean of the workloads' median ratios
    bool tied;    ///< its distance from the winner is inside the noise
};

struct SizeResult {
    std::size_t size;
    std::vector<Finalist> finalists;          ///< the winner first, the others by falling ratio
    std::map<Workload, Estimate> noise_floor; ///< libc's time over libc's, paired alike
    int rounds;
};

/// No candidate wins that loses more than this to libc in one workload while another does not.
inline constexpr double kWorstRatio = 0.97;

/// Times and chooses. `entrants` are the valid indices of `space`; `neighbour` is the winner of the
/// next smaller size (or kLibc for none): it takes part in the run-off and wins ties; other ties go
/// to the simplest tuple, the first in the space.
SizeResult search_size(const std::vector<Candidate>& space, const std::vector<Entrant>& entrants,
                       std::size_t size, const std::vector<Workload>& workloads, const Rigor& rigor,
                       Entrant neighbour, std::mt19937_64& random, Timings& timings);

} // namespace asterope
