// The common best: what serves several machines of one type best.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "merge/merge_source.hpp"
#include "profile/profile.hpp"

namespace asterope {

struct CommonBest {
    Profile profile;
    std::vector<std::size_t> unmeasured; ///< sizes at which no copy was timed on all machines
    std::string table;                   ///< for people
};

/// The profile that the search would choose if its figures were the geometric means over the
/// machines, among copies that were timed on all of them; in any order of `sources`, two logs or
/// more, the same.
/// - boundaries: the median of those that machines with the same two winners found; where none had,
///   the smaller size;
/// - copies that sense: where all machines take one with the same probe, the threshold between all
///   their readings, the common best of cached data and that of uncached data.
/// Throws BadInput for sources that are not alike, see require_alike, and where no copy was timed
/// on all at any size.
CommonBest common_best(std::vector<MergeSource> sources);

} // namespace asterope
