// A search that is merged with others: its profile, and its trial log where that is given.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "run/trial_log.hpp"

namespace asterope {

struct MergeSource {
    std::string path; ///< as given, for messages
    Profile profile;
    std::optional<TrialLogContents> log; ///< which the profile was derived from

    /// Equal for equal profiles, whatever their files are called.
    std::string content() const { return to_json(profile).dump(); }
};

/// Reads a profile, or the whole log of a run, whose profile is derived from it (see replay_run).
/// Throws BadInput, in one line that names the file, for what is neither, for a log that is not
/// whole, and for a profile that does not say on which machine it was found, or how.
MergeSource read_merge_source(const std::string& path);

/// In what `b` is of another type of machine than `a`, two "machine" objects, as in "cpu.model: 85
/// and 143"; empty: they are of one type. That is what decides how fast copies are: processor, data
/// caches, number of CPUs, hypervisor and libc. Memory sizes may differ by a sixteenth: of equal
/// machines, firmware and kernels take different shares.
std::string type_difference(const nlohmann::json& a, const nlohmann::json& b);

/// Throws BadInput where two sources are of different types of machines, were searched for by
/// different versions or for different objectives, or are one and the same search.
void require_alike(const std::vector<MergeSource>& sources);

/// What the source says of the search as a whole: the first one's "search" object, where the others
/// agree with it; sums of times and trials; the first start and the last end.
SearchFacts merged_search(const std::vector<MergeSource>& sources);

/// The "merged" object: what was merged, source by source.
Merged merged_from(const std::vector<MergeSource>& sources);

/// The steps that some of these searches left out.
std::set<Step> left_out_steps(const std::vector<MergeSource>& sources);

} // namespace asterope
