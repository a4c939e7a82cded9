// The step of a run that finds the sizes at which several threads copy faster than one.
#include "run/steps.hpp"
#include "search/threads_search.hpp"

namespace asterope {

namespace {

/// The workloads under which copies over threads are timed: those of the screening, and hot and
/// cold where these count.
Weights shared_weights(const Weights& weights) {
    Weights shared = screening_weights(weights);
    for (const auto& weighted : weights) {
        const bool either = weighted.first == Workload::hot || weighted.first == Workload::cold;
        if (either && weight_of(shared, weighted.first) == 0) shared.push_back(weighted);
    }
    return shared;
}

/// Each chunk is copied by the copy that the routine takes for the whole. Does nothing if no share
/// can be timed.
void share(OperationRun& run, std::size_t size, const PipelineFacts& pipelines,
           const std::vector<ThreadShare>& shares, std::vector<SizeResult>& found) {
    const std::string step = run.logged(Step::threads, size);
    std::vector<Entrant> entrants = {0};
    for (std::size_t i = 1; i < shares.size(); ++i) {
        const bool timed = can_share(shares[i], size) && run.timings.has(step, name_of(shares[i]));
        if (timed) entrants.push_back(static_cast<Entrant>(i));
    }
    if (entrants.size() == 1) return;
    run.enter(Step::threads, size);
    asterope_sensing arguments;
    const TimedCopy alone = copy_of_routine(run, pipelines, size, arguments);
    std::vector<asterope_share> how;
    for (const auto& [threads, chunk] : shares) {
        how.push_back({threads, chunk, alone.function, alone.distance});
    }
    std::vector<TimedCopy> copies = {alone};
    for (std::size_t i = 1; i < shares.size(); ++i) {
        copies.push_back({&asterope_copy_over_threads, reinterpret_cast<std::size_t>(&how[i]),
                          alone.cache_effect, nullptr, name_of(shares[i])});
    }
    found.push_back(search_shares(entrants, size, shared_weights(run.weights()), run.plan.rigor,
                                  run.timed(copies, size)));
}

} // namespace

TimedCopy copy_of_routine(const OperationRun& run, const PipelineFacts& pipelines, std::size_t size,
                          asterope_sensing& arguments) {
    const auto& sensing = pipelines.sensing[pipelines.result_for(size)];
    if (!sensing) return run.copy(pipelines.winner_for(size));
    arguments = sensing->copy.arguments();
    return sensing->copy.timed(arguments);
}

std::vector<Choice> choices_beside(ChoiceKind kind, Operation operation, const CopyOf& copy_of,
                                   const std::vector<SizeResult>& found) {
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const SizeResult& one = found[i];
        Choice choice;
        choice.kind = kind;
        choice.operation = operation;
        choice.above = i ? choices.back().up_to : one.size - 1;
        choice.size = choice.up_to = one.size;
        choice.noise_floor = one.noise_floor;
        choice.copy = copy_of(one.winner());
        if (one.winner() > 0) {
            set_figures(choice, one.finalists.front(), one.size);
        } else {
            const Finalist& next = one.finalists.at(1);
            choice.runners_up = {{copy_of(next.candidate), next.ratio, false}};
            const bool begins = i + 1 < found.size() && found[i + 1].winner() > 0;
            if (begins) choice.up_to = found[i + 1].size - 1;
        }
        choices.push_back(std::move(choice));
    }
    return choices;
}

void find_shared(OperationRun& run, Findings& findings) {
    if (run.plan.threads < 2) return;
    run.show(Step::threads);
    const std::vector<ThreadShare> shares = all_shares(run.plan.threads);
    std::vector<SizeResult> found;
    OperationRun::within_budget(findings.left_out, Step::threads, [&] {
        for (const Found& one : findings.pipelines.found) {
            const std::size_t size = one.results.front().size;
            if (size >= kSharedMinimum) share(run, size, findings.pipelines, shares, found);
        }
    });
    const auto choices =
        choices_beside(ChoiceKind::threads, run.plan.operation, among(shares), found);
    findings.others.insert(findings.others.end(), choices.begin(), choices.end());
}

} // namespace asterope
