// The routine's rows, chosen for the whole range of sizes at once: few pipelines, few boundaries.
#pragma once

#include <cstddef>
#include <vector>

namespace asterope {

/// By size, by pipeline: the score of the pipeline there, a logarithm of which more is better;
/// minus infinity where the pipeline cannot be used. At most 32 pipelines.
using PipelineScores = std::vector<std::vector<double>>;

/// What rows cost. Prices are in the unit of scores, added up over the sizes: at a price of 0.01 a
/// row has to bring 1 % at one size, or 0.1 % at ten of them.
struct RowRules {
    std::size_t most_rows = 8;
    std::size_t most_pipelines = 6;
    double row_price = 0.01;
    double pipeline_price = 0.02; ///< of each further distinct pipeline, besides its rows
    /// How far a size may lie behind the best pipeline there until each further step counts four
    /// times: the sum of many small gains shall not pay for one large loss.
    double bearable_regret = 0.02;
};

/// The sizes first..last, indices into the scores, and the pipeline that copies them.
struct Row {
    std::size_t first, last;
    std::size_t pipeline;
    bool operator==(const Row&) const = default;
};

/// The rows that lose least: the regrets of all sizes (the best score there less that of the row's
/// pipeline) and the prices of rows and pipelines. Every set of up to most_pipelines pipelines is
/// tried, and for each the cheapest rows are found by dynamic programming over the sizes; where
/// these are more than most_rows, the price of a row rises until they are not. `in_place` are
/// pipelines that the routine has anyhow: they cost nothing and do not count. Of sets that cost the
/// same the one of the lower indices wins. Empty where no pipeline can be used at one of the sizes.
std::vector<Row> choose_rows(const PipelineScores& scores, const RowRules& rules = {},
                             const std::vector<std::size_t>& in_place = {});

/// The mean and the largest regret of such rows.
struct Regret {
    double mean = 0, worst = 0;
};
Regret regret_of(const std::vector<Row>& rows, const PipelineScores& scores);

} // namespace asterope
