// The paper's table of winners, with what each is worth beside libc.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profile/make_profile.hpp"
#include "search/search.hpp"

namespace asterope {

/// One row an interval of the routine's own winners: what won (of the extension axes only those
/// that some winner uses), and under each workload libc's time over the winner's; then how far to
/// trust it: the runner-up's time over the winner's, how many finalists tie with it, and the noise
/// floor (libc's time over libc's, or its inverse, whichever end of an interval is farthest from
/// 1).
std::string result_table(const std::vector<Candidate>& space, const PipelineFacts& pipelines);

/// One row a size: under each workload the time of the fastest of libc and the references over the
/// winner's, and which one that is. Empty where there were no references.
std::string references_table(const PipelineFacts& pipelines);

/// One row a size at which a copy that senses beat the fixed winner: what it is, and libc's time
/// over its own. Empty where none did.
std::string sensing_table(const PipelineFacts& pipelines);

/// One row for each entry point by intent: libc's time over its winners', geometric means over the
/// sizes.
std::string intents_table(const PipelineFacts& pipelines);

/// One line for each small finalist, the winner first: what it is, and libc's time over its own
/// under each workload.
std::string small_table(const SmallFacts& small, Operation operation = Operation::copy);

/// One line a size for buffers that alias, and what the routine does about it.
std::string aliased_table(const AliasedFacts& aliased);

/// One line a size for copies over threads: the best, whether it is taken, and one thread's time
/// over its own under each workload. Empty where none was timed.
std::string overlapping_table(const OverlappingFacts& overlapping);
std::string threads_table(const ThreadsFacts& threads);

/// What a run of `seconds` spent on each of its phases and on the rest, in seconds and as shares;
/// then whether verification and calibration keep to their kOverheadShare of it.
std::string timings_table(const TimeAccount& phases, double seconds);

/// What a run may spend on verification and calibration together.
inline constexpr double kOverheadShare = 0.1;

} // namespace asterope
