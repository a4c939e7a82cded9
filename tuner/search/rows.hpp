// The routine's rows, chosen for the whole range of sizes at once: few pipelines, few boundaries.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "timing/workload.hpp"

namespace asterope {

/// The place where a probe finds the data of a call.
enum class Locality {
    cached,   ///< Both are in a cache.
    produced, ///< The source is in a cache, the destination is not: new data is handed on.
    fetched,  ///< The destination is in a cache, the source is not: new data goes into a buffer
              ///< used again. Or the destination's pages are untouched: the kernel clears them in
              ///< the cache.
    uncached, ///< Both are outside all caches.
};
inline constexpr std::size_t kLocalities = 4;

/// The place where a probe finds the data under a workload. `outgrows`: the sides of a copy are too
/// large for all caches, so that the kernel's cleared pages alone are cached where a probe looks.
constexpr Locality locality_of(Workload workload, bool outgrows = false) {
    const WorkloadFacts& facts = facts_of(workload);
    if (facts.fresh) return Locality::fetched;
    if (outgrows) return Locality::uncached;
    if (facts.source_cached) {
        return facts.destination_cached ? Locality::cached : Locality::produced;
    }
    return facts.destination_cached ? Locality::fetched : Locality::uncached;
}

/// How a row copies: by one pipeline, or by one of four behind a probe.
struct RowCopy {
    std::array<std::size_t, kLocalities> pipelines; ///< by Locality
    bool senses = false;

    static RowCopy plain(std::size_t pipeline) {
        RowCopy copy;
        copy.pipelines.fill(pipeline);
        return copy;
    }
    std::size_t of(Locality locality) const {
        return pipelines[static_cast<std::size_t>(locality)];
    }
    bool operator==(const RowCopy&) const = default;
};

/// The worth of pipelines at one size, as weighted means of utility(): more is better, minus
/// infinity where a pipeline cannot be used.
struct SizeScores {
    std::vector<double> plain; ///< by pipeline: under all workloads
    /// By Locality, by pipeline: its share of that sum under the workloads of this locality, with
    /// the time of a probe included. Empty where no copy can sense.
    std::array<std::vector<double>, kLocalities> sensed = {};
    /// Of memset alone, by pipeline: its share under workloads that read an uncached destination.
    /// Else empty. `sensed` lacks it, because a call site takes the better of two pipelines there.
    std::vector<double> read = {};
};

/// A copy that was timed itself: its worth by size.
struct TimedRowCopy {
    RowCopy copy;
    std::vector<double> scores;
};

/// The costs of rows. Prices are in the unit of scores, added up over the sizes. At a price of 0.02
/// a row has to bring 2 % at one size, or 0.2 % at ten of them. Each size counts once, however far
/// its neighbours are: so small sizes, which lie densely, weigh more than large ones.
struct RowRules {
    std::size_t most_rows = 8;
    std::size_t most_pipelines = 6;
    std::size_t most_senses = 2; ///< distinct sensing copies
    double row_price = 0.02;
    double sense_price = 0.02; ///< of each row that senses, besides row_price
    /// Of each distinct pipeline not in place, besides its rows. Empty: all are 0.
    std::vector<double> pipeline_prices = {};
    /// Copies that sense look at the destination alone, as those of memset do. Cached and untouched
    /// destinations take one pipeline, uncached ones another.
    bool one_sided = false;
    /// By pipeline: its worth at each size is reduced by this before copies are compared. Otherwise
    /// one that is as good as a simpler one would win by chance. Empty: all are 0. A row that
    /// senses has the mean of its pipelines' handicaps.
    std::vector<double> handicaps = {};
    /// A regret up to this counts once, and each further step counts four times. The sum of many
    /// small gains shall not pay for one large loss.
    double bearable_regret = 0.02;
};

/// The sizes first..last, as indices into the scores, and their copy.
struct Row {
    std::size_t first, last;
    RowCopy copy;
    bool operator==(const Row&) const = default;
};

/// Chooses the rows that lose least. The loss is the regrets of all sizes and the prices of rows
/// and pipelines. The regret of a size is its best score less that of the row's copy.
///
/// The search for a set of pipelines starts from those in place, from each of the best single ones
/// and from those of each timed copy. It adds, leaves out or exchanges one at a time for as long as
/// that helps. For each set, dynamic programming over the sizes finds the cheapest rows. While
/// there are more rows than most_rows, their price rises. So does that of sensing while there are
/// more distinct sensing copies than most_senses.
///
/// `timed` are further copies to choose. If one of them can be made of pipelines, too, its timed
/// scores count instead of theirs. `in_place` are pipelines that the routine has anyhow: they cost
/// nothing and do not count. Returns no rows if no set of most_pipelines can copy all sizes.
std::vector<Row> choose_rows(const std::vector<SizeScores>& scores, const RowRules& rules = {},
                             const std::vector<TimedRowCopy>& timed = {},
                             const std::vector<std::size_t>& in_place = {});

/// Whether at a size one copy is faster than another beyond chance, or the other cannot be taken.
using Leads = std::function<bool(std::size_t size, const RowCopy& one, const RowCopy& other)>;

/// `rows` without those of one size alone whose lead over a neighbour's copy there may be chance:
/// the neighbour's row goes on. Among hundreds of scores some sizes look good by luck. Several
/// neighbouring sizes rarely do.
std::vector<Row> without_chance_rows(std::vector<Row> rows, const Leads& leads);

/// The distinct pipelines of rows, ascending.
std::vector<std::size_t> pipelines_of(const std::vector<Row>& rows);

} // namespace asterope
