// Finds the sizes at which buffers that alias modulo 4096 deserve a copy of their own, and the copy
// for buffers that overlap.
#pragma once

#include <optional>
#include <vector>

#include "search/race.hpp"
#include "search/search.hpp"
#include "space/limits.hpp"

namespace asterope {

/// Up to this size, which stays in caches, aliased copies are timed. Beyond, memory hides the cost
/// of an alias.
inline constexpr std::size_t kAliasedMaximum = 64 << 10;

/// A copy is taken only where it beats the pipeline by this: the test for it costs every call.
inline constexpr double kAliasedGain = 1.05;

/// The copy to take for above < bytes <= up_to.
struct AliasedChoice {
    std::size_t variant, above, up_to;
};

/// libc's time over an entrant's in the race at a size. Entrant 0 is the pipeline that won this
/// size before. The others are the aliased copies.
double aliased_ratio(const SizeResult& at, std::size_t entrant);

/// The copy and the run of neighbouring sizes with the largest gain over the pipelines. Empty if
/// every copy gains less than kAliasedGain at all sizes.
std::optional<AliasedChoice> choose_aliased(const std::vector<SizeResult>& sizes);

/// Chooses one of `count` copies for all sizes and shifts: the simplest that is as good as the best
/// within the noise. SizeResult::size is 0. In `timings`, libc is its memmove. Throws Failure if
/// `count` is 0.
SizeResult search_overlapping(std::size_t count, const Rigor& rigor, const TimedCopies& timings);

} // namespace asterope
