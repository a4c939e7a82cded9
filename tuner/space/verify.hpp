// Proves that candidates copy right before any of them is timed.
#pragma once

#include <string>
#include <vector>

#include "space/space.hpp"

namespace asterope {

/// A candidate that failed, and how: "wrong byte 3 of 129 (source +1, destination +63)".
struct Invalid {
    std::size_t index; ///< in the space that was given
    std::string reason;
};

/// Runs every variant of `space` (copies or sets) at the shortest and longest distances, over a
/// grid of offsets and sizes, with canaries around the destination. It does so in child processes:
/// a candidate that crashes is reported like one that copies wrongly. `space` may be any list, so
/// that only those of the extension axes are run that are going to be timed. Throws Failure where
/// no child process can be started.
std::vector<Invalid> verify(const std::vector<Candidate>& space);

/// The same for another kind. Small copies and sets run from 0 bytes to beyond their bound, those
/// for overlapping buffers as moves, either way, those that sense on either side of their
/// threshold. Small copies call `pipeline` beyond their bound, and sensing ones go on with it.
std::vector<Invalid> verify(const asterope_kind& kind,
                            const std::vector<const asterope_copy*>& space,
                            asterope_candidate pipeline = nullptr);

} // namespace asterope
