// The step of a run that chooses the routine's rows: few pipelines for all sizes at once.
#include <algorithm>
#include <memory>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "run/search_steps.hpp"

namespace asterope {

namespace {

/// How many pipelines the entry points by intent may bring besides the routine's own.
constexpr std::size_t kMoreOfIntents = 3;

} // namespace

/// The race refers to the random numbers, so both stay where they are.
struct SearchSteps::Contest {
    std::unique_ptr<std::mt19937_64> random;
    std::unique_ptr<Race> race;
    std::vector<SizeResult> results; ///< by objective
};

SearchSteps::Contest SearchSteps::contest(std::size_t size,
                                          const std::vector<Entrant>& contestants) {
    progress_.label(format_size(size));
    Contest one{std::make_unique<std::mt19937_64>(enter(Step::rows, size)), nullptr, {}};
    std::vector<Weights> weights;
    for (const Objective& objective : objectives_) weights.push_back(objective.weights);
    one.race = std::make_unique<Race>(size, weights, *one.random, timed(copies_, size));
    one.results =
        one.race->run_offs(contestants, plan_.rigor.contest_rounds,
                           std::vector<std::vector<Entrant>>(objectives_.size()), plain_copy());
    return one;
}

/// The rows of the routine, then those of each entry point by intent from the same pipelines and
/// few more. Where time does not suffice, each size keeps its own winner.
void SearchSteps::find_rows(Findings& findings) {
    PipelineFacts& facts = findings.pipelines;
    const std::size_t any = facts.found.front().results.front().size;
    std::vector<Contest> contests;
    std::vector<Weights> weights;
    for (const Objective& objective : objectives_) weights.push_back(objective.weights);
    const std::vector<Entrant> contestants =
        choose_contestants(facts.found, weights, plain_copy(), plan_.rigor.contestants);
    if (!timings_.has(LoggedStep{Step::rows, any}.name())) return; // a log of an earlier version
    show(Step::rows);
    try {
        for (const Found& found : facts.found) {
            contests.push_back(contest(found.results.front().size, contestants));
        }
    } catch (const BudgetSpent&) {
        findings.left_out.steps.insert(Step::rows);
        return;
    }
    std::vector<std::size_t> in_place;
    std::size_t more = 0;
    for (std::size_t objective = 0; objective < objectives_.size(); ++objective) {
        std::vector<SizeScores> scores;
        for (const Contest& one : contests) {
            scores.push_back(scores_of(one.results[objective], weights[objective], contestants));
        }
        RowRules rules;
        rules.most_rows = plan_.most_rows;
        if (objective > 0) rules.most_pipelines = kMoreOfIntents - more;
        const std::vector<Row> rows = choose_rows(scores, rules, {}, in_place);
        for (const Row& row : rows) {
            for (std::size_t size = row.first; size <= row.last; ++size) {
                const Entrant winner = contestants[row.copy.pipelines.front()];
                SizeResult& result = facts.found[size].results[objective];
                const bool undecided = contests[size].results[objective].undecided;
                result = contests[size].race->won_by(winner, objective);
                result.undecided = undecided;
            }
        }
        for (const std::size_t one : pipelines_of(rows)) {
            if (contains(in_place, one)) continue;
            in_place.push_back(one);
            more += objective > 0;
        }
    }
}

} // namespace asterope
