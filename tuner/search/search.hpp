// Finds the winner of one transfer size: drops the hopeless, then re-times the rest in a run-off.
#pragma once

#include <array>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "search/race.hpp"
#include "search/size_order.hpp"
#include "space/space.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// How much is spent on a size. Numbers of samples are those under each workload.
struct Rigor {
    std::string name;
    std::size_t coarse_from = kNoCoarseSizes; ///< see default_sizes
    std::size_t largest_size = kUsualLargest; ///< the same
    /// A part of the prefetch sizes and distances; empty: all of them.
    struct Grid {
        std::vector<int> ps, pd;
        bool has(const Candidate& candidate) const;
    };
    /// Each family (RT LT ST PT) is screened on this grid first. If it is everything, no family is
    /// dropped.
    Grid coarse;
    Grid fine;             ///< the best families are then screened on this one
    int families;          ///< so many of them; the other objectives add as many
    int screening_samples; ///< of each candidate before the first cut
    struct Cut {
        int keep, samples; ///< the best `keep` so far get `samples` more
    };
    std::vector<Cut> cuts;
    int finalists, rounds; ///< Both of the run-off.
    /// Extension axes. All their combinations are screened around the best `bases` of the paper's
    /// space. Then the best `planes` found there are screened with all prefetch sizes at the fine
    /// distances.
    int bases, planes;
    /// Whether sizes that outgrow the caches take over the finalists of all such sizes that are
    /// done, and screen no others. Those from kLargeCopy on that do not outgrow them do so among
    /// themselves: there nothing changes with the size but the duration.
    bool inherits;
    /// From here on all workloads that count are timed, before that only screening_weights(). With
    /// `start` the log holds every candidate under every workload.
    enum class AllFrom { start, last_cut, run_off };
    AllFrom all_from;
    /// The least number of a probe's readings under each workload: a percentile of fewer would be
    /// an extreme.
    std::size_t probe_readings;
    std::size_t contestants; ///< of each size, besides standing ones; see choose_contestants
    int contest_rounds;
    int exam_rounds;       ///< of the compiled routine beside libc, at each size
    int exams;             ///< at most: after each but the last, rows that lost are chosen anew
    double boundary_ratio; ///< how exactly boundaries are found, see find_boundary
};

/// The candidates beyond the entrants that a search begins with: the extension axes around one of
/// them.
struct Extension {
    /// Those around a candidate, see neighbours() in space.hpp.
    std::function<std::vector<Entrant>(const Candidate&)> neighbours;
    /// All prefetch sizes and distances with the other parameters of a candidate.
    std::function<std::vector<Entrant>(const Candidate&)> distance_grid;
};

/// The result of the search of one size, for each objective.
struct Found {
    std::vector<SizeResult> results;
    std::size_t extended = 0; ///< candidates around the paper's best that were screened
};

/// The rigors by name, rising.
inline constexpr std::array kRigors = {"quick", "standard", "exhaustive"};

/// quick, standard or exhaustive. Throws BadInput for anything else.
Rigor parse_rigor(std::string_view text);

/// From the first of these sizes on, a sample takes some tenths of a millisecond. From the second
/// on, it takes a millisecond or more.
inline constexpr std::size_t kModerateCopy = std::size_t{128} << 10,
                             kLargeCopy = std::size_t{1} << 20;
/// Up to this size contests have all their rounds. Five rounds at 8 MiB left that row's copy to
/// chance (32 MiB of cache). In one of six searches it had 0.85 of libc's speed. With nine rounds,
/// one of three searches gave up sensing at that size (260 MiB of last cache). There sensing makes
/// uncached copies 1.7 times as fast.
inline constexpr std::size_t kContestedCopy = std::size_t{8} << 20;

/// How a size's pipelines are searched. A standard search tries copies from kModerateCopy on as a
/// quick one does. They took nine tenths of its time on an Emerald Rapids. The contest chooses
/// their rows among the finalists of all sizes anyway.
///
/// (Routines of four quick searches there had 1.17 to 1.18 of libc's speed. Those of three standard
/// searches before this rule had 1.15 to 1.17. Each figure is the mean of ten workloads at 19 sizes
/// between the evaluated ones.)
Rigor rigor_at(const Rigor& rigor, std::size_t size);

/// About the number of candidates' samples in the run-off of a size under a workload. It is for the
/// progress line only.
std::size_t run_off_samples(const Rigor& rigor);
/// The same in the screening before it. `waits`: the workload is not among screening_weights().
std::size_t screening_samples(const Rigor& rigor, const std::vector<Candidate>& paper, bool waits,
                              bool extended);

/// The index of the space's plain copy; kLibc if `entrants` lacks it.
Entrant find_plain_copy(const std::vector<Candidate>& space, const std::vector<Entrant>& entrants);

/// The search of one size that is asked for.
struct SizeSearch {
    std::size_t size; ///< bytes
    const std::vector<Candidate>& space;
    /// Indices of `space` that copy right: the paper's, or finalists of other sizes.
    std::vector<Entrant> entrants;
    const Extension* extension; ///< leads to others; may be null
    std::vector<Weights> objectives;
    Rigor rigor;
    /// The winners of the nearest sizes that are done, if any, by objective. Those that take effect
    /// at this size take part in the run-off and win ties, the first of them first.
    std::vector<std::vector<Entrant>> neighbours;
    std::mt19937_64 random;
};

/// Times and chooses, for all objectives at once. Ties that no neighbour wins go to the simplest
/// tuple, the first in the space. The plain copy takes part, too, and wins where noise hides which
/// is the fastest.
Found search_size(const SizeSearch& asked, const TimedCopies& timings);

} // namespace asterope
