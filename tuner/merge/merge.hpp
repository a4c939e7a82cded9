// asterope-tune merge: one profile from those of several machines of one type.
#pragma once

#include <string>
#include <vector>

namespace asterope {

/// As given.
struct MergeRequest {
    std::vector<std::string> inputs; ///< the machines' logs
    std::string output;
    bool quiet = false;
};

/// The command: makes the common best of several searches (common_best). The same inputs in any
/// order give the same bytes. Throws BadInput for what cannot be merged, and then nothing is
/// written; Failure where it cannot be written.
void merge(const MergeRequest& request);

} // namespace asterope
