// Finds the copy for buffers that overlap.
#pragma once

#include <random>

#include "search/race.hpp"
#include "search/search.hpp"
#include "space/candidates.h"

namespace asterope {

/// Chooses one of `count` for all sizes and shifts, the simplest that is as good as the best within
/// the noise; SizeResult::size is 0. In `timings`, libc is its memmove. Throws Failure for 0.
SizeResult search_overlapping(std::size_t count, const Rigor& rigor, std::mt19937_64& random,
                              const TimedCopies& timings);

} // namespace asterope
