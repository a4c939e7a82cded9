// The common best: what serves several machines of one type best.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "merge/merge_source.hpp"

namespace asterope {

struct CommonBest {
    nlohmann::ordered_json profile;
    std::vector<std::size_t> nobody; ///< sizes at which no candidate was measured on all machines
    std::string table;               ///< for people
};

/// The profile whose winners have the best geometric mean, over the machines, of libc's time over
/// their own, among candidates that were measured on all of them; in any order of `sources`, two or
/// more, the same. Figures are means over the machines, intervals from their errors. Of the rest:
/// - boundaries: the median of those that machines with the same two winners found; where none had,
///   the smaller size;
/// - sensing copies: where all machines take the same one, its threshold between all their
/// readings;
/// - small copies, copies for aliasing buffers and over threads: as the pipelines.
/// Throws BadInput for sources that are not alike, see require_alike, for shards, and where nobody
/// was measured on all at any size.
CommonBest common_best(std::vector<MergeSource> sources);

} // namespace asterope
