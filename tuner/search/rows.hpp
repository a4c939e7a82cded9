// The routine's rows, chosen for the whole range of sizes at once: few pipelines, few boundaries.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "timing/workload.hpp"

namespace asterope {

/// Where a probe finds the data of a call.
enum class Locality {
    cached,   ///< the source in a cache
    fetched,  ///< the source in none, the destination in one: new data into a buffer used again,
              ///< or into untouched pages, which the kernel clears in the cache
    uncached, ///< neither in any
};
inline constexpr std::size_t kLocalities = 3;

/// What a probe finds under a workload.
constexpr Locality locality_of(Workload workload) {
    const WorkloadFacts& facts = facts_of(workload);
    if (facts.source_cached) return Locality::cached;
    return facts.destination_cached || facts.fresh ? Locality::fetched : Locality::uncached;
}

/// How a row copies: by one pipeline, or by one of three behind a probe.
struct RowCopy {
    std::array<std::size_t, kLocalities> pipelines; ///< by Locality
    bool senses = false;

    static RowCopy plain(std::size_t pipeline) { return {{pipeline, pipeline, pipeline}, false}; }
    bool operator==(const RowCopy&) const = default;
};

/// What pipelines are worth at one size, as weighted means of utility(): more is better, minus
/// infinity where a pipeline cannot be used.
struct SizeScores {
    std::vector<double> plain; ///< by pipeline: under all workloads
    /// By Locality, by pipeline: its share of that sum under the workloads of this locality, with
    /// what a probe takes. Empty where no copy can sense.
    std::array<std::vector<double>, kLocalities> sensed = {};
};

/// A copy that was timed itself: what it is worth by size.
struct TimedRowCopy {
    RowCopy copy;
    std::vector<double> scores;
};

/// What rows cost. Prices are in the unit of scores, added up over the sizes: at a price of 0.02 a
/// row has to bring 2 % at one size, or 0.2 % at ten of them.
struct RowRules {
    std::size_t most_rows = 8;
    std::size_t most_pipelines = 6;
    std::size_t most_senses = 2; ///< distinct sensing copies
    double row_price = 0.02;
    double pipeline_price = 0.04; ///< of each further distinct pipeline, besides its rows
    std::vector<double> pipeline_prices = {}; ///< the same by pipeline; empty: alike
    double sense_price = 0.02;                ///< of each row that senses, besides
    /// By pipeline, at each size: by how much it has to be better than the simplest, lest what is
    /// as good as another win by chance; empty: by nothing. Of a row that senses, a third of each.
    std::vector<double> handicaps = {};
    /// How far a size may lie behind the best choice there until each further step counts four
    /// times: the sum of many small gains shall not pay for one large loss.
    double bearable_regret = 0.02;
};

/// The sizes first..last, indices into the scores, and what copies them.
struct Row {
    std::size_t first, last;
    RowCopy copy;
    bool operator==(const Row&) const = default;
};

/// The rows that lose least: the regrets of all sizes (the best score there less that of the row's
/// copy) and the prices of rows and pipelines. A set of pipelines is searched for by adding,
/// leaving out and exchanging one at a time for as long as that helps, from each of the best single
/// ones; for each set the cheapest rows are found by dynamic programming over the sizes. Where
/// these are more than most_rows, or more than most_senses, the price rises until they are not.
/// `timed` are further copies to choose. `in_place` are pipelines that the routine has anyhow: they
/// cost nothing and do not count. Empty where no set of most_pipelines can copy all sizes.
std::vector<Row> choose_rows(const std::vector<SizeScores>& scores, const RowRules& rules = {},
                             const std::vector<TimedRowCopy>& timed = {},
                             const std::vector<std::size_t>& in_place = {});

/// Whether at a size one copy is faster than another beyond chance, or the other cannot be taken.
using Leads = std::function<bool(std::size_t size, const RowCopy& one, const RowCopy& other)>;

/// `rows` without those of one size alone whose lead over a neighbour's copy there may be chance:
/// the neighbour's row goes on. Scores are points: among hundreds of them some look good by luck,
/// which several sizes in a row do not.
std::vector<Row> without_chance_rows(std::vector<Row> rows, const Leads& leads);

/// The distinct pipelines of rows, ascending.
std::vector<std::size_t> pipelines_of(const std::vector<Row>& rows);

} // namespace asterope
