// A search that is merged with others: its sample log, and the profile that follows from it.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "run/sample_log.hpp"

namespace asterope {

struct MergeSource {
    std::string path; ///< as given, for messages
    Profile profile;
    SampleLogContents log; ///< which the profile is derived from

    /// Equal for equal profiles under any file names.
    std::string content() const { return to_json(profile).dump(); }
};

/// Reads the whole log of a run (see replay_run). Throws BadInput, in one line that names the file,
/// for another kind of file, and for a log that is not whole.
MergeSource read_merge_source(const std::string& path);

/// Throws BadInput where two sources are of different types of machines, come from different
/// versions or objectives, or are one and the same search. Machines differ in type if a profile of
/// the one is stale on the other. But memory sizes may differ by a sixteenth, and modules and the
/// mode of huge pages altogether.
void require_alike(const std::vector<MergeSource>& sources);

/// The facts about the search as a whole. It has the first source's "search" object, where the
/// others agree with it; sums of times and samples; the first start and the last end.
SearchFacts merged_search(const std::vector<MergeSource>& sources);

/// The "merged" object: the merged parts, source by source.
Merged merged_from(const std::vector<MergeSource>& sources);

} // namespace asterope
