// The step of a run that finds the sizes at which rows, and winners of entry points, change places.
#include "search/boundaries.hpp"

#include <algorithm>
#include <optional>

#include "base/size_text.hpp"
#include "run/steps.hpp"

namespace asterope {

namespace {

/// The copy of each evaluated size, by number.
struct Taken {
    std::vector<std::size_t> sizes;
    std::vector<Entrant> entrants;                 ///< by size
    std::vector<std::optional<Entrant>> pipelines; ///< by entrant; empty where it senses
    std::vector<TimedCopy> copies;                 ///< by entrant
};

Taken taken_by(const OperationRun& run, const Contests& contests, const Findings& findings,
               std::size_t objective) {
    const PipelineFacts& facts = findings.pipelines;
    Taken taken;
    for (std::size_t i = 0; i < facts.found.size(); ++i) {
        const SizeResult& result = facts.found[i].results[objective];
        taken.sizes.push_back(result.size);
        const bool senses = objective == 0 && facts.sensing[i];
        TimedCopy one = senses ? contests.copy_of(run, row_at(findings.rows, i).copy, i)
                               : run.copy(result.winner());
        const auto known = std::ranges::find(taken.copies, one.name, &TimedCopy::name);
        taken.entrants.emplace_back(known - taken.copies.begin());
        if (known != taken.copies.end()) continue;
        taken.pipelines.push_back(senses ? std::nullopt : std::optional(result.winner()));
        taken.copies.push_back(std::move(one));
    }
    return taken;
}

} // namespace

void find_boundaries(OperationRun& run, const Contests& contests, Findings& findings) {
    run.show(Step::boundaries);
    PipelineFacts& facts = findings.pipelines;
    bool budget_left = true;
    for (std::size_t objective = 0; objective < run.objectives.size(); ++objective) {
        const Objective& one = run.objectives[objective];
        const Taken taken = taken_by(run, contests, findings, objective);
        // Where the budget has ended, an interval ends at the largest size at which its copy is
        // known to hold: mostly an evaluated one, as the paper's do.
        const auto lower_holds = [&](Entrant lower, Entrant upper, std::size_t size) {
            const bool senses = !taken.pipelines[upper.index()];
            if (budget_left && size < kSensingMinimum && senses) return true;
            // A copy that stores past the caches without a probe may lose where data is cached. The
            // evaluated sizes have figures of that, and this size has not.
            const auto unmeasured = [](Workload) { return 0.0; };
            const auto forbidden_unprobed = [&](Entrant entrant) {
                const auto pipeline = taken.pipelines[entrant.index()];
                return pipeline &&
                       !may_take_unprobed(run, *pipeline, size, one.weights, unmeasured);
            };
            if (budget_left && forbidden_unprobed(upper) && !forbidden_unprobed(lower)) return true;
            bool holds = false;
            budget_left =
                budget_left &&
                OperationRun::within_budget(findings.left_out, Step::boundaries, [&] {
                    run.progress.label(format_size(size));
                    run.enter(Step::boundaries, size, one.name);
                    run.calibrate(size);
                    Race race(size, screening_weights(one.weights), run.timed(taken.copies, size));
                    holds = race.run_off({lower, upper}, run.plan.rigor.rounds, lower).winner() ==
                            lower;
                });
            return holds;
        };
        facts.intervals.push_back(find_intervals(taken.sizes, taken.entrants,
                                                 run.plan.rigor.boundary_ratio, lower_holds));
    }
    begin_sensing_at_minimum(facts);
}

} // namespace asterope
