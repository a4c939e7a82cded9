// The steps of a run that find the copy for buffers that alias modulo 4096, and the one for
// overlapping buffers.
#include "search/aliased_search.hpp"

#include "base/contains.hpp"
#include "run/steps.hpp"
#include "timing/cache_effect.hpp"

namespace asterope {

namespace {

/// The choice's ratio is libc's time over its own: the geometric mean over the sizes that it is
/// taken for.
Choice choice_of(const AliasedChoice& chosen, const std::vector<SizeResult>& sizes,
                 const Spaces::Members& space) {
    Choice choice;
    choice.kind = ChoiceKind::aliased;
    choice.above = chosen.above;
    choice.up_to = chosen.up_to;
    choice.copy = space[chosen.variant];
    GeometricMean ratio;
    for (const SizeResult& one : sizes) {
        const bool taken = chosen.above < one.size && one.size <= chosen.up_to;
        if (taken) ratio.add(aliased_ratio(one, chosen.variant + 1));
    }
    choice.ratio = ratio.mean();
    return choice;
}

/// Appends the copies of a kind to `first`.
std::vector<TimedCopy> timed_copies(const Spaces::Members& space,
                                    std::vector<TimedCopy> first = {}) {
    for (const asterope_copy* one : space) {
        first.push_back({.function = one->copy, .name = one->name});
    }
    return first;
}

} // namespace

/// Such a copy serves cached buffers alone. Elsewhere the program waits for memory, or writes past
/// the caches. There a load that is held up costs nothing, and these would be the wrong copies.
void find_aliased(OperationRun& run, Findings& findings) {
    const auto& space = run.spaces.members("aliased");
    const Weights& weights = run.plan.objective.weights;
    const bool has_hot = contains(weights, Workload::hot, &Weights::value_type::first);
    if (space.empty() || !has_hot) return;
    run.show(Step::aliased);
    std::vector<SizeResult> sizes;
    OperationRun::within_budget(findings.left_out, Step::aliased, [&] {
        for (const Found& found : findings.pipelines.found) {
            const std::size_t size = found.results.front().size;
            const TimedCopy& pipeline = run.copy(findings.pipelines.winner_for(size));
            if (size < kAliasedMinimum || size > kAliasedMaximum) continue;
            if (pipeline.cache_effect == kNonTemporal) continue;
            if (!run.timings.has(run.logged(Step::aliased, size))) continue;
            run.enter(Step::aliased, size);
            const std::vector<TimedCopy> copies = timed_copies(space, {pipeline});
            Race race(size, {{Workload::aliased, 1}}, run.timed(copies, size));
            sizes.push_back(race.run_off(all_entrants(copies.size()), run.plan.rigor.rounds, 0, 0));
        }
    });
    if (const auto chosen = choose_aliased(sizes)) {
        findings.others.push_back(choice_of(*chosen, sizes, space));
    }
}

/// The winner also copies the sizes of pipelines: these copy wrongly where buffers overlap.
void find_overlapping(OperationRun& run, Findings& findings) {
    const auto& space = run.spaces.members("overlapping");
    run.show(Step::overlapping);
    run.enter(Step::overlapping);
    const TimedCopy libc{.function = libc_move(), .name = "libc"};
    const std::vector<TimedCopy> copies = timed_copies(space);
    const SizeResult found =
        search_overlapping(copies.size(), run.plan.rigor, {run.timings, copies, libc});
    findings.others.push_back(choice_of(ChoiceKind::overlapping, found, among(space)));
    findings.others.back().proof.reset();
}

} // namespace asterope
