// What a search might have found, for tests of what writes and prints it.
#pragma once

#include <vector>

#include "profile/make_profile.hpp"

namespace asterope {

/// The facts of one objective with these results, each size an interval of its own.
inline PipelineFacts made_up_pipelines(const Objective& objective,
                                       const std::vector<SizeResult>& results) {
    PipelineFacts facts;
    facts.objectives = {objective};
    facts.intervals.emplace_back();
    std::size_t above = 0;
    for (const SizeResult& result : results) {
        facts.intervals[0].push_back({above, result.size, facts.found.size()});
        facts.found.push_back({{result}, 0});
        facts.sensing.emplace_back();
        above = result.size;
    }
    return facts;
}

/// A profile that has nothing but these results.
inline Profile made_up_profile(const SearchResults& results) {
    Profile profile;
    add_results(profile, results);
    return profile;
}

} // namespace asterope
