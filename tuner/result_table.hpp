// The paper's table of winners, with what each is worth beside libc.
#pragma once

#include <string>
#include <vector>

#include "profile.hpp"
#include "search.hpp"

namespace asterope {

/// One row an interval of the routine's own winners: what won, and under each workload libc's time
/// over the winner's; then the widest noise floor of them (libc's over libc's).
std::string result_table(const std::vector<Candidate>& space, const PipelineFacts& pipelines);

/// One row a size at which a copy that senses beat the fixed winner: what it is, and libc's time
/// over its own. Empty where none did.
std::string sensing_table(const PipelineFacts& pipelines);

/// What each extension axis brought: one row a size, for each axis and workload the time of the
/// paper's best for that workload over that of the best that uses this axis alone. Empty where none
/// was tried.
std::string axes_table(const PipelineFacts& pipelines);

/// One row for each entry point by intent: libc's time over its winners', geometric means over the
/// sizes.
std::string intents_table(const PipelineFacts& pipelines);

/// One line for each small finalist, the winner first: what it is, and libc's time over its own
/// under each workload.
std::string small_table(const SmallFacts& small);

/// One line a size for buffers that alias, and what the routine does about it.
std::string aliased_table(const AliasedFacts& aliased);

} // namespace asterope
