// What a search might have found, for tests of what writes and prints it.
#pragma once

#include <vector>

#include "profile/make_profile.hpp"
#include "space/features.hpp"

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

/// Spaces with these members and no others.
struct MadeUpSpaces : Spaces {
    using Members = std::vector<const asterope_copy*>;
    explicit MadeUpSpaces(const std::vector<Candidate>& pipelines, const Members& small = {},
                          const Members& aliased = {}, const Members& overlapping = {})
        : Spaces(Features(Cpu(), {}), false, false, Invalids{}) {
        space = pipelines;
        small_space = small;
        aliased_space = aliased;
        overlapping_space = overlapping;
    }
};

/// Several threads beside one, which they beat by this ratio or do not.
inline SizeResult made_up_sharing(std::size_t size, double ratio) {
    const Finalist alone{0, {}, 1, false},
        several{1, {{Workload::cold, {2e5, 3e5, {1.5, 1.4, 1.6}}}}, ratio, false};
    const bool won = ratio > 1;
    return {size,
            {won ? several : alone, won ? alone : several},
            {{Workload::cold, {1, 0.99, 1.01}}},
            15};
}

} // namespace asterope
