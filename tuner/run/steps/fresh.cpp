// The step of a run that finds the best page stages of copies into fresh memory.
#include "run/steps.hpp"
#include "search/fresh_search.hpp"

namespace asterope {

namespace {

/// The workloads that count: memory as the system gives it, and memory for which the program has
/// asked for huge pages itself. A stage must not gain under the one and lose as much under the
/// other.
Weights fresh_weights(const Weights& weights) {
    Weights fresh;
    for (const auto& weighted : weights) {
        const WorkloadFacts& facts = facts_of(weighted.first);
        if (facts.fresh && facts.pages != "small") fresh.push_back(weighted);
    }
    return fresh;
}

/// The copy of a piece, which is cached: where the row senses, the pipeline of cached sources.
TimedCopy copy_of_piece(const OperationRun& run, const PipelineFacts& pipelines,
                        std::size_t bytes) {
    const auto& sensing = pipelines.sensing[pipelines.result_for(bytes)];
    return sensing ? timed_copy(sensing->copy.hot) : run.copy(pipelines.winner_for(bytes));
}

/// Does nothing if no page stage can be timed.
void prepare(OperationRun& run, std::size_t size, const PipelineFacts& pipelines,
             const std::vector<PageStage>& stages, std::vector<SizeResult>& found) {
    const std::string step = run.logged(Step::fresh, size);
    const Weights weights = fresh_weights(weights_at(size, run.weights()));
    std::vector<Entrant> entrants = {0};
    for (std::size_t i = 1; i < stages.size(); ++i) {
        const bool timed =
            can_prepare(stages[i], size) && run.timings.has(step, name_of(stages[i]));
        if (timed) entrants.push_back(static_cast<Entrant>(i));
    }
    if (weights.empty() || entrants.size() == 1) return;
    run.enter(Step::fresh, size);
    asterope_sensing arguments;
    const TimedCopy alone = copy_of_routine(run, pipelines, size, arguments);
    std::vector<asterope_page_stage> how;
    for (const PageStage& stage : stages) {
        const std::size_t piece = stage.piece ? stage.piece : kLeastPiece;
        const TimedCopy copy = copy_of_piece(run, pipelines, std::min(piece, size));
        const bool reads = facts_of(run.plan.operation).reads;
        how.push_back({asks_for_huge_pages(stage), piece, reads, copy.function, copy.distance});
    }
    std::vector<TimedCopy> copies = {alone};
    for (std::size_t i = 1; i < stages.size(); ++i) {
        TimedCopy copy{&asterope_copy_fresh, reinterpret_cast<std::size_t>(&how[i]),
                       alone.cache_effect, nullptr, name_of(stages[i])};
        copy.pages = how[i].huge > 0;
        copy.operation = run.plan.operation;
        copies.push_back(std::move(copy));
    }
    found.push_back(
        search_page_stages(entrants, size, weights, run.plan.rigor, run.timed(copies, size)));
}

} // namespace

void find_page_stages(OperationRun& run, Findings& findings) {
    run.show(Step::fresh);
    const std::vector<PageStage> stages = all_page_stages();
    std::vector<SizeResult> found;
    OperationRun::within_budget(findings.left_out, Step::fresh, [&] {
        for (const Found& one : findings.pipelines.found) {
            const std::size_t size = one.results.front().size;
            if (size >= kFreshMinimum) prepare(run, size, findings.pipelines, stages, found);
        }
    });
    const auto choices =
        choices_beside(ChoiceKind::fresh, run.plan.operation, among(stages), found);
    findings.others.insert(findings.others.end(), choices.begin(), choices.end());
}

} // namespace asterope
