// The paper's table of winners, with what each is worth beside libc.
#pragma once

#include <string>
#include <vector>

#include "profile.hpp"
#include "search.hpp"

namespace asterope {

/// One row a size: Size RT LT ST PT PS PD, and for each workload GB/s (10^9 bytes copied a second,
/// counted once), libc's time over the winner's, and the noise floor (libc's over libc's).
std::string result_table(const std::vector<Candidate>& space,
                         const std::vector<SizeResult>& results);

/// One line for each small finalist, the winner first: what it is, and libc's time over its own
/// under each workload.
std::string small_table(const SmallFacts& small);

/// One line a size for buffers that alias, and what the routine does about it.
std::string aliased_table(const AliasedFacts& aliased);

} // namespace asterope
