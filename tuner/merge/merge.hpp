// asterope-tune merge: one profile from several, of one search or of one type of machine.
#pragma once

#include <string>
#include <vector>

namespace asterope {

/// As given.
struct MergeRequest {
    std::vector<std::string> inputs; ///< shards' profiles or logs; several machines' logs
    std::string output;
    bool quiet = false;
};

/// The command: joins the shards of one search (join_shards), or makes the common best of several
/// whole searches (common_best). The same inputs in any order give the same bytes. Throws BadInput
/// for what cannot be merged, and then nothing is written; Failure where it cannot be written.
void merge(const MergeRequest& request);

} // namespace asterope
