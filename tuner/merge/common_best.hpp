// The common best: the copies that serve several machines of one type best.
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
/// machines. Only copies that were timed on all of them take part. `sources`, two logs or more,
/// give the same in any order.
/// - Boundaries are the median of those that machines with the same two winners found. Where no
///   machine had these two, it is the smaller size.
/// - Copies that sense are taken where all machines take one with the same probe. Their threshold
///   lies between all machines' readings. They have the common best of cached data and that of
///   uncached data.
///
/// Throws BadInput for sources that are not alike, see require_alike, and where no copy was timed
/// on all at any size.
CommonBest common_best(std::vector<MergeSource> sources);

} // namespace asterope
