// Joins the shards of one search to the profile that the whole of it would have given.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "merge/merge_source.hpp"

namespace asterope {

/// The profile of all `shards` together, which may come in any order: of each the sizes that are
/// its own, and the boundaries that it found; where two shards meet, the upper one has found it.
/// Throws BadInput where one is missing or given twice, where they are of different searches, or
/// say what no shard says.
Profile join_shards(std::vector<MergeSource> shards);

} // namespace asterope
