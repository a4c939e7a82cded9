// The step of a run that finds out from which size on several threads copy faster than one.
#include "run/steps.hpp"
#include "search/threads_search.hpp"

namespace asterope {

namespace {

/// What copies over threads are timed under: what counts early, and whatever counts, cached and
/// uncached.
Weights shared_weights(const Weights& weights) {
    Weights shared = screening_weights(weights);
    for (const auto& weighted : weights) {
        const bool either = weighted.first == Workload::hot || weighted.first == Workload::cold;
        if (either && weight_of(shared, weighted.first) == 0) shared.push_back(weighted);
    }
    return shared;
}

/// A chunk takes the copy that the routine takes for the whole. None where none of the shares can
/// be timed.
std::optional<SharedSize> share(Run& run, std::size_t size, const PipelineFacts& pipelines) {
    const std::string step = run.logged(Step::threads, size);
    std::vector<ThreadShare> shares = shares_for(size, run.plan.threads);
    std::erase_if(shares,
                  [&](const ThreadShare& one) { return !run.session.has(step, share_name(one)); });
    if (shares.empty()) return std::nullopt;
    std::mt19937_64 random = run.enter(Step::threads, size);
    const auto& sensing = pipelines.sensing[pipelines.result_for(size)];
    TimedCopy alone = run.copy(pipelines.winner_for(size));
    asterope_sensing arguments;
    if (sensing) {
        arguments = sensing->copy.arguments();
        alone = sensing->copy.timed(arguments);
    }
    std::vector<asterope_share> how;
    for (const auto& [threads, chunk] : shares) {
        how.push_back({threads, chunk, alone.function, alone.distance});
    }
    std::vector<TimedCopy> copies = {alone};
    for (std::size_t i = 0; i < shares.size(); ++i) {
        copies.push_back({&asterope_copy_over_threads, reinterpret_cast<std::size_t>(&how[i]),
                          alone.cache_effect, nullptr, share_name(shares[i])});
    }
    return search_shares(shares, size, shared_weights(run.weights()), run.plan.rigor, random,
                         run.timed(copies, size));
}

} // namespace

void find_shared(Run& run, Findings& findings) {
    if (run.plan.threads < 2) return;
    run.show(Step::threads);
    Run::within_budget(findings.left_out, Step::threads, [&] {
        for (const Found& found : findings.pipelines.found) {
            const std::size_t size = found.results.front().size;
            if (size < kSharedMinimum) continue;
            if (const auto one = share(run, size, findings.pipelines)) {
                findings.shared.push_back(*one);
            }
        }
    });
}

} // namespace asterope
