// asterope-tune check: whether a profile still fits this machine.
#pragma once

#include <string>

#include "base/error.hpp"

namespace asterope {

struct CheckRequest {
    std::string profile;  ///< empty: see profile_to_read
    bool settled = false; ///< a provisional profile counts as stale
    bool measure = false; ///< time the winners again
    int cpu = -1;         ///< to measure on; negative: the last one allowed
};

/// Prints the verdict, then part by part what differs. Returns kDone or kStale. Where it measures,
/// the verdict comes last, and what it finds decides (see closing_of): it can absolve a profile of
/// another libc, memory or hypervisor. Not of another processor or other caches, where nothing is
/// timed: copies that were not in the run then may be the best ones now. Throws BadInput for a
/// profile that cannot be used, and where this machine cannot be read well enough to tell; with
/// `measure` also Failure and Interrupted.
ExitCode check(const CheckRequest& request);

} // namespace asterope
