// The pipelines that serve several machines best, size by size.
#pragma once

#include <vector>

#include "merge/merge_source.hpp"
#include "merge/merged_timings.hpp"
#include "run/operation_run.hpp"

namespace asterope {

/// The winners of one operation, and their worth as a share of each machine's own winners.
struct CommonPipelines {
    PipelineFacts facts;
    std::vector<OfBest> of_best;         ///< by size, as the facts
    std::vector<std::size_t> unmeasured; ///< sizes at which no copy was timed on all machines
    std::vector<std::size_t> unsensed;   ///< at which some machine senses, but not all alike
};

/// The pipelines that a search would choose by geometric means over the machines, among copies that
/// were timed on all of them.
CommonPipelines find_common_pipelines(OperationRun& run, const MergedTimings& timings,
                                      const std::vector<MergeSource>& sources);

} // namespace asterope
