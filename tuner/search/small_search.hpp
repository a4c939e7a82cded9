// Finds the small copy: which shape serves up to a few hundred bytes best.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "search/race.hpp"
#include "search/search.hpp"
#include "space/candidates.h"
#include "space/space.hpp"

namespace asterope {

/// The weights of small copies. Calls of unpredictable sizes, in each cache and in memory, count as
/// much as those of one size; for sets, twice as much. Calls of one size use the same buffers again
/// or walk through uncached memory. Half of each is followed by a reader of the copy. Copies at the
/// ends of pages count besides.
Weights small_weights(Operation operation = Operation::copy);

/// The index of the member of that name; kLibc where it is not there.
Entrant member_named(const std::vector<const asterope_copy*>& space, std::string_view name);

/// The shape and the registers of a small copy, by which the finalists are to be of several kinds.
using ShapeOf = std::function<std::string(Entrant)>;

/// The callers of an entry point, and the workloads of their small copies.
struct SmallCallers {
    Workload told; ///< their entry point serves this workload
    Weights weights;
};

/// All entry points' callers. They need other small copies: masked moves suit hot data, but a
/// reader must wait for them.
std::vector<SmallCallers> small_callers();

/// The samples of each small copy before the first cut, and of those that it keeps: at every rigor,
/// as the space is small. The run-off has so many times the rigor's rounds.
inline constexpr int kSmallSamples = 5, kSmallKept = 16, kKeptSamples = 8, kSmallRounds = 2;

/// Small copies tie by less than pipelines: a simpler copy is not worth a percent of every call.
inline constexpr TieBand kSmallTies{0.002, 0.002};

/// The small copies that a search found. Entry points have a copy of their own only where it is
/// faster for their callers than the one for all, beyond doubt.
struct SmallResults {
    SizeResult all;
    std::map<Workload, SizeResult> by_intent;
};

/// Chooses among the entrants; SizeResult::size is 0. `plain` wins where noise hides which of them
/// is the fastest, if it is one of them.
///
/// With `shape_of`, the best of each shape are among the finalists. Under `fixed` and `fixed_read`
/// each size is then timed for itself. Under these two, a worth averages two means: over all sizes,
/// and over the three worst. A program may copy one size alone.
///
/// `standing`, if it is an entrant, wins unless it is beaten by more than doubt_of(), or `plain`
/// wins. `callers`: the entry points that may have copies of their own. Throws Failure where
/// `entrants` is empty.
SmallResults search_small(const std::vector<Entrant>& entrants, Entrant plain,
                          const Weights& weights, const Rigor& rigor, const std::mt19937_64& random,
                          const TimedCopies& timings, const ShapeOf& shape_of = nullptr,
                          Entrant standing = kLibc, const std::vector<SmallCallers>& callers = {});

} // namespace asterope
