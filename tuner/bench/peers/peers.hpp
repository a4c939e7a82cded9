// The copies that the routine is compared with: what people use, and what the literature describes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "timing/workload.hpp"

namespace asterope {

/// A copy that people use, or that the literature describes. Copies right at every size and
/// misalignment, whatever it is meant for; buffers must not overlap.
struct Peer {
    std::string name;        ///< [a-z0-9_]+
    std::string description; ///< one line for legends, with the source
    CopyFunction copy;       ///< the last argument is ignored
    bool threaded = false;   ///< uses more than the calling thread, see threads.hpp
    std::size_t least = 0;   ///< smallest size it is meant for, bytes
};

/// Those that this CPU can run, in a fixed order.
std::vector<Peer> built_in_peers();

/// A peer that is not there, and a line that says why.
struct MissingPeer {
    std::string name, reason;
};

/// What was not found at configure time, and what this CPU cannot run.
std::vector<MissingPeer> missing_peers();

} // namespace asterope
