// The step of a run that chooses the routine's rows, which are few pipelines for all sizes at once.
// They come from a contest of the near winners at each size.
#include <algorithm>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "run/steps.hpp"
#include "search/favour.hpp"

namespace asterope {

namespace {

/// How many pipelines the entry points by intent may bring besides the routine's own.
constexpr std::size_t kMoreOfIntents = 3;

Contest hold_contest(OperationRun& run, const std::vector<Entrant>& contestants, std::size_t size) {
    run.progress.label(format_size(size));
    run.enter(Step::rows, size);
    Contest one{Race(size, weights_of(run.objectives), run.timed(run.copies, size)), {}};
    one.results = one.race.run_offs(contestants, rigor_at(run.plan.rigor, size).contest_rounds,
                                    std::vector<std::vector<Entrant>>(run.objectives.size()),
                                    run.plain_copy());
    return one;
}

/// Finds the rows of the entry points by intent. They choose from the routine's own pipelines and
/// few more.
void find_rows_of_intents(const OperationRun& run, const Contests& contests, Findings& findings) {
    std::vector<std::size_t> in_place = pipelines_of(findings.rows);
    const std::size_t own = in_place.size();
    for (std::size_t objective = 1; objective < run.objectives.size(); ++objective) {
        std::vector<SizeScores> scores = contests.scores_by(run, objective);
        contests.forbid_unprobed(run, objective, scores);
        RowRules rules = contests.rules;
        rules.most_pipelines = kMoreOfIntents - (in_place.size() - own);
        const std::vector<Row> rows =
            contests.beyond_chance(choose_rows(scores, rules, {}, in_place), scores, objective);
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

/// Adds all pipelines of the profile that stands to the contestants.
void add_standing(const OperationRun& run, std::vector<Entrant>& contestants) {
    for (const auto& row : run.plan.standing().rows) {
        for (const std::string& name : row.pipelines) {
            const auto& copies = run.copies;
            const auto found = std::ranges::find(copies, name, &TimedCopy::name);
            const Entrant entrant = found - copies.begin();
            const bool right = found != copies.end() && run.spaces.right_pipeline(entrant);
            if (right && !contains(contestants, entrant)) contestants.push_back(entrant);
        }
    }
}

/// Finds the standing copy of each size, if it is among the contestants.
void find_standing(const OperationRun& run, Contests& contests) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < contests.at_size.size(); ++i) sizes.push_back(contests.size_at(i));
    std::vector<std::string> names;
    for (const Entrant one : contests.contestants) names.push_back(run.copy(one).name);
    contests.standing = standing_copies(run.plan.standing(), sizes, names);
}

/// Standing copies count as better than they were found to be, see favour().
void favour_standing(const OperationRun& run, Contests& contests) {
    std::vector<double> doubts;
    for (const Contest& one : contests.at_size) {
        doubts.push_back(doubt_of(one.results.front(), run.weights()));
    }
    std::vector<TimedRowCopy*> timed;
    for (TimedSensing& one : contests.sensing) timed.push_back(&one.row);
    favour(contests.standing, doubts, contests.scores, timed, contests.rules);
}

} // namespace

Contests find_rows(OperationRun& run, Findings& findings) {
    const std::vector<Found>& found = findings.pipelines.found;
    const StandardPipelines standard(run.spaces.space, run.spaces.right_pipeline);
    Contests contests;
    contests.contestants = choose_contestants(
        found, weights_of(run.objectives),
        [&run](std::size_t size) { return run.outgrows_caches(size); }, run.spaces.space, standard,
        run.plain_copy(), run.plan.rigor.contestants);
    add_standing(run, contests.contestants);
    run.show(Step::rows);
    const bool held = OperationRun::within_budget(findings.left_out, Step::rows, [&] {
        for (const Found& one : found) {
            contests.at_size.push_back(
                hold_contest(run, contests.contestants, one.results.front().size));
        }
    });
    if (!held) return {};
    contests.scores = contests.scores_by(run, 0);
    contests.rules.most_rows = run.plan.most_rows;
    contests.rules.one_sided = !facts_of(run.plan.operation).reads;
    contests.rules.pipeline_prices = prices_of(contests.contestants, standard, run.spaces.space);
    contests.rules.handicaps = handicaps_of(contests.contestants, standard, run.spaces.space);
    find_standing(run, contests);
    time_sensing(run, contests, findings.left_out);
    contests.forbid_unprobed(run, 0, contests.scores);
    favour_standing(run, contests);
    std::vector<Row> rows = choose_rows(contests.scores, contests.rules, contests.timed_rows());
    contests.take_rows(contests.beyond_chance(std::move(rows), contests.scores), findings);
    find_rows_of_intents(run, contests, findings);
    return contests;
}

} // namespace asterope
