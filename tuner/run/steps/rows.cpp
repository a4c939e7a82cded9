// The step of a run that chooses the routine's rows: few pipelines for all sizes at once, from a
// contest of the near winners at each size.
#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "run/steps.hpp"

namespace asterope {

namespace {

/// How many pipelines the entry points by intent may bring besides the routine's own.
constexpr std::size_t kMoreOfIntents = 3;

Contest hold_contest(Run& run, const std::vector<Entrant>& contestants, std::size_t size) {
    run.label(format_size(size));
    Contest one{{std::make_unique<std::mt19937_64>(run.enter(Step::rows, size)), nullptr}, {}};
    one.race = std::make_unique<Race>(size, weights_of(run.objectives), *one.random,
                                      run.timed(run.copies, size));
    one.results = one.race->run_offs(contestants, run.plan.rigor.contest_rounds,
                                     std::vector<std::vector<Entrant>>(run.objectives.size()),
                                     run.plain_copy());
    return one;
}

/// Those of the entry points by intent, which choose from the routine's own pipelines and few more.
void find_rows_of_intents(const Run& run, const Contests& contests, Findings& findings) {
    std::vector<std::size_t> in_place = pipelines_of(findings.rows);
    const std::size_t own = in_place.size();
    for (std::size_t objective = 1; objective < run.objectives.size(); ++objective) {
        std::vector<SizeScores> scores;
        for (const Contest& one : contests.at_size) {
            scores.push_back(scores_of(one.results[objective], run.objectives[objective].weights,
                                       contests.contestants));
        }
        RowRules rules = contests.rules;
        rules.most_pipelines = kMoreOfIntents - (in_place.size() - own);
        const std::vector<Row> rows =
            contests.beyond_chance(choose_rows(scores, rules, {}, in_place), objective);
        for (const Row& row : rows) {
            for (std::size_t i = row.first; i <= row.last; ++i) {
                contests.crown(i, objective, row.copy.pipelines.front(), findings.pipelines);
            }
        }
        for (const std::size_t one : pipelines_of(rows)) {
            if (!contains(in_place, one)) in_place.push_back(one);
        }
    }
}

} // namespace

Contests find_rows(Run& run, Findings& findings) {
    const std::vector<Found>& found = findings.pipelines.found;
    const StandardPipelines standard(run.spaces.space, run.spaces.right_pipeline);
    Contests contests;
    contests.contestants =
        choose_contestants(found, weights_of(run.objectives), run.spaces.space, standard,
                           run.plain_copy(), run.plan.rigor.contestants);
    run.show(Step::rows);
    const bool held = Run::within_budget(findings.left_out, Step::rows, [&] {
        for (const Found& one : found) {
            contests.at_size.push_back(
                hold_contest(run, contests.contestants, one.results.front().size));
        }
    });
    if (!held) return {};
    for (const Contest& one : contests.at_size) {
        contests.scores.push_back(
            scores_of(one.results.front(), run.weights(), contests.contestants));
    }
    contests.rules.most_rows = run.plan.most_rows;
    contests.rules.pipeline_prices = prices_of(contests.contestants, standard, run.plain_copy());
    time_sensing(run, contests, findings.left_out);
    contests.take_rows(
        run,
        contests.beyond_chance(choose_rows(contests.scores, contests.rules, contests.timed_rows())),
        findings);
    find_rows_of_intents(run, contests, findings);
    return contests;
}

} // namespace asterope
