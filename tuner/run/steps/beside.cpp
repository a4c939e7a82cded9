// The steps of a run that try other ways to carry out the routine's copies: over threads, and into
// fresh memory behind a page stage.
#include <deque>

#include "run/steps.hpp"
#include "search/fresh_search.hpp"
#include "search/threads_search.hpp"

namespace asterope {

namespace {

/// The copy that the routine takes for so many bytes. One that senses refers to `arguments`, which
/// this fills in.
TimedCopy copy_of_routine(const OperationRun& run, const PipelineFacts& pipelines, std::size_t size,
                          asterope_sensing& arguments) {
    const auto& sensing = pipelines.sensing[pipelines.result_for(size)];
    if (!sensing) return run.copy(pipelines.winner_for(size));
    arguments = sensing->copy.arguments();
    return sensing->copy.timed(arguments);
}

/// Times the routine's copy of each size beside these ways, of which the first is that copy as it
/// is: by `weights_for(size)`, in `rounds_for(size)`. `copy_by` makes a way's copy of so many bytes
/// out of the routine's. Leaves out the sizes at which no way can be timed.
template <class Way, class RoundsFor, class WeightsFor, class CopyBy>
void find_beside(OperationRun& run, Findings& findings, ChoiceKind kind,
                 const std::vector<Way>& ways, const RoundsFor& rounds_for,
                 const WeightsFor& weights_for, const CopyBy& copy_by) {
    const Step step = facts_of(kind).step;
    run.show(step);
    std::vector<SizeResult> found;
    OperationRun::within_budget(findings.left_out, step, [&] {
        for (const Found& one : findings.pipelines.found) {
            const std::size_t size = one.results.front().size;
            const LoggedStep logged = run.logged(step, size);
            std::vector<Entrant> entrants = {0};
            for (std::size_t i = 1; i < ways.size(); ++i) {
                const bool timed =
                    is_tried(ways[i], size) && run.timings.has(logged, name_of(ways[i]));
                if (timed) entrants.emplace_back(i);
            }
            const Weights weights = weights_for(size);
            if (weights.empty() || entrants.size() == 1) continue;
            run.enter(step, size);
            asterope_sensing arguments;
            std::vector<TimedCopy> copies = {
                copy_of_routine(run, findings.pipelines, size, arguments)};
            for (std::size_t i = 1; i < ways.size(); ++i) {
                TimedCopy copy = copy_by(ways[i], size, copies.front());
                copy.cache_effect = copies.front().cache_effect;
                copy.name = name_of(ways[i]);
                copy.operation = run.plan.operation;
                copies.push_back(std::move(copy));
            }
            found.push_back(race_beside_first(entrants, size, weights, rounds_for(size),
                                              run.timed(copies, size)));
        }
    });
    const auto choices = choices_beside(kind, run.plan.operation, among(ways), found);
    findings.others.insert(findings.others.end(), choices.begin(), choices.end());
}

/// The workloads under which copies over threads are timed: those of the screening, which count.
/// Hot and cold are timed for the record, where these do not count.
Weights shared_weights(const Weights& weights) {
    Weights shared = screening_weights(weights);
    for (const auto& weighted : weights) {
        const bool either = weighted.first == Workload::hot || weighted.first == Workload::cold;
        if (either && weight_of(shared, weighted.first) == 0) shared.push_back(weighted);
    }
    return shared;
}

/// The workloads of fresh memory that count: memory as the system gives it, and memory for which
/// the program has asked for huge pages itself. A stage must not gain under the one and lose as
/// much under the other.
Weights fresh_weights(const Weights& weights) {
    Weights fresh = counting(weights);
    std::erase_if(fresh, [](const auto& one) {
        const WorkloadFacts& facts = facts_of(one.first);
        return !facts.fresh || facts.pages == "small";
    });
    return fresh;
}

/// The copy of a piece, which is cached: where the row senses, the pipeline of cached sources.
TimedCopy copy_of_piece(const OperationRun& run, const PipelineFacts& pipelines,
                        std::size_t bytes) {
    const auto& sensing = pipelines.sensing[pipelines.result_for(bytes)];
    return sensing ? timed_copy(sensing->copy.hot) : run.copy(pipelines.winner_for(bytes));
}

} // namespace

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
        if (one.winner() != 0) {
            set_figures(choice, one.finalists.front(), one.size);
        } else {
            const Finalist& next = one.finalists.at(1);
            choice.runners_up = {{copy_of(next.candidate), next.ratio, false}};
            const bool begins = i + 1 < found.size() && found[i + 1].winner() != 0;
            if (begins) choice.up_to = found[i + 1].size - 1;
        }
        choices.push_back(std::move(choice));
    }
    return choices;
}

/// Each chunk is copied by the copy that the routine takes for the whole.
void find_shared(OperationRun& run, Findings& findings) {
    if (run.plan.threads < 2) return;
    const Weights weights = shared_weights(run.weights());
    std::deque<asterope_share> how; // copies refer to them
    find_beside(
        run, findings, ChoiceKind::threads, all_shares(run.plan.threads),
        [&](std::size_t) { return run.plan.rigor.rounds; }, [&](std::size_t) { return weights; },
        [&](const ThreadShare& share, std::size_t, const TimedCopy& alone) {
            how.push_back({share.threads, share.chunk, alone.function, alone.argument});
            return TimedCopy{&asterope_copy_over_threads, argument_of(how.back())};
        });
}

void find_page_stages(OperationRun& run, Findings& findings) {
    std::deque<asterope_page_stage> how; // copies refer to them
    find_beside(
        run, findings, ChoiceKind::fresh, all_page_stages(),
        [&](std::size_t size) { return rigor_at(run.plan.rigor, size).rounds; },
        [&](std::size_t size) { return fresh_weights(weights_at(size, run.weights())); },
        [&](const PageStage& stage, std::size_t size, const TimedCopy&) {
            const TimedCopy piece =
                copy_of_piece(run, findings.pipelines, std::min(stage.piece, size));
            const bool reads = facts_of(run.plan.operation).reads;
            how.push_back(
                {asks_for_huge_pages(stage), stage.piece, reads, piece.function, piece.argument});
            TimedCopy copy{&asterope_copy_fresh, argument_of(how.back())};
            copy.pages = how.back().huge > 0;
            return copy;
        });
}

} // namespace asterope
