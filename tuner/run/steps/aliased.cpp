// The steps of a run that find the copy of buffers that alias modulo 4096, and of those that
// overlap.
#include "search/aliased_search.hpp"

#include "base/contains.hpp"
#include "run/steps.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

/// A matter of cached buffers: where memory is waited for, or written past the caches, a load that
/// is held up costs nothing, and these would be the wrong copies.
void find_aliased(Run& run, Findings& findings) {
    const auto& space = run.spaces.aliased_space;
    const Weights& weights = run.plan.objective.weights;
    const bool hot_counts = contains(weights, Workload::hot, &Weights::value_type::first);
    if (space.empty() || !hot_counts) return;
    run.show(Step::aliased);
    Run::within_budget(findings.left_out, Step::aliased, [&] {
        for (const Found& found : findings.pipelines.found) {
            const std::size_t size = found.results.front().size;
            const TimedCopy& pipeline = run.copy(findings.pipelines.winner_for(size));
            if (size < kAliasedMinimum || size > kAliasedMaximum) continue;
            if (pipeline.cache_effect == kNonTemporal) continue;
            if (!run.session.has(run.logged(Step::aliased, size))) continue;
            std::mt19937_64 random = run.enter(Step::aliased, size);
            std::vector<TimedCopy> copies = {pipeline};
            for (const asterope_copy* one : space) {
                copies.push_back({.function = one->copy, .name = one->name});
            }
            findings.aliased.push_back(search_aliased(space.size(), size, run.plan.rigor, random,
                                                      run.timed(copies, size)));
        }
    });
}

SizeResult find_overlapping(Run& run) {
    run.show(Step::overlapping);
    std::mt19937_64 random = run.enter(Step::overlapping);
    const TimedCopy libc{.function = libc_move(), .name = "libc"};
    std::vector<TimedCopy> copies;
    for (const asterope_copy* one : run.spaces.overlapping_space) {
        copies.push_back({.function = one->copy, .name = one->name});
    }
    return search_overlapping(copies.size(), run.plan.rigor, random, {run.session, copies, libc});
}

} // namespace asterope
