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
/// grid of offsets and sizes, with canaries around the destination, in a child process: a candidate
/// that crashes is reported like one that copies wrongly. Any list will do, so that of the
/// extension axes only those are run that are going to be timed. Throws Failure where no child can
/// be had.
std::vector<Invalid> verify(const std::vector<Candidate>& space);

/// The same for another kind: small copies and sets from 0 bytes to beyond their bound, those for
/// overlapping buffers as moves, either way, those that sense on either side of their threshold.
/// `pipeline` is what small copies call beyond their bound, and what sensing ones go on with.
std::vector<Invalid> verify(const asterope_kind& kind,
                            const std::vector<const asterope_copy*>& space,
                            asterope_candidate pipeline = nullptr);

} // namespace asterope
