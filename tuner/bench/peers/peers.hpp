// The copies that the routine is compared with. People use some of them, and the literature
// describes others.
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

/// All of them in a fixed order. It includes copies that this CPU cannot run, and those of
/// libraries that were not found when the build was configured.
std::vector<Peer> built_in_peers();

} // namespace asterope
