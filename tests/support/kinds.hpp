// The kinds of copies by name, for tests that speak of one.
#pragma once

#include "space/space.hpp"

namespace asterope {

inline const asterope_kind &kSmallCopies = *find_kind(asterope_copies, "small"),
                           &kSmallSets = *find_kind(asterope_sets, "small"),
                           &kAliasedCopies = *find_kind(asterope_copies, "aliased"),
                           &kOverlappingCopies = *find_kind(asterope_copies, "overlapping"),
                           &kProbes = *find_kind(asterope_copies, "probes");

} // namespace asterope
