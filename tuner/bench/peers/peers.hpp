// The built-in copies that the routine is compared with, which the literature describes.
#pragma once

#include <string>
#include <vector>

#include "timing/timed_copy.hpp"

namespace asterope {

/// A copy that is right at every size and misalignment, even outside its purpose; buffers must not
/// overlap.
struct Peer {
    std::string name;        ///< [a-z0-9_]+
    std::string description; ///< one line for legends, with the source
    CopyFunction copy;       ///< the last argument is ignored
    std::string missing;     ///< why it cannot be called here; empty where it can
};

/// All of them in a fixed order, with those that this CPU cannot run.
std::vector<Peer> built_in_peers();

} // namespace asterope
