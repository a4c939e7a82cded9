// The steps of a run that choose the routine's rows: few pipelines for all sizes at once, from a
// contest of the near winners at each size.
#include <algorithm>
#include <limits>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "run/search_steps.hpp"

namespace asterope {

namespace {

/// How many pipelines the entry points by intent may bring besides the routine's own.
constexpr std::size_t kMoreOfIntents = 3;

} // namespace

/// The rows of the routine, then those of each entry point by intent, from the same pipelines and
/// few more. Where time does not suffice, each size keeps its own winner.
void SearchSteps::find_rows(Findings& findings) {
    PipelineFacts& facts = findings.pipelines;
    const std::size_t any = facts.found.front().results.front().size;
    if (!timings_.has(logged(Step::rows, any))) return; // a log of an earlier version
    const std::vector<Weights> weights = weights_of(objectives_);
    const StandardPipelines standard(spaces_.space, spaces_.right_pipeline);
    contestants_ = choose_contestants(facts.found, weights, spaces_.space, standard, plain_copy(),
                                      plan_.rigor.contestants);
    show(Step::rows);
    try {
        for (const Found& found : facts.found) {
            contests_.push_back(contest(found.results.front().size));
        }
    } catch (const BudgetSpent&) {
        findings.left_out.steps.insert(Step::rows);
        return;
    }
    for (const Contest& one : contests_) {
        scores_.push_back(scores_of(one.results.front(), weights.front(), contestants_));
        for (std::size_t i = 0; i < contestants_.size(); ++i) {
            if (may_take(one.results.front().size, contestants_[i])) continue;
            scores_.back().plain[i] = -std::numeric_limits<double>::infinity();
        }
    }
    pipeline_prices_ = prices_of(contestants_, standard, plain_copy());
    time_sensing(findings.left_out);
    rows_ = beyond_chance(choose_rows(scores_, row_rules(), timed_rows()), 0);
    take_rows(facts);

    std::vector<std::size_t> in_place = pipelines_of(rows_);
    const std::size_t own = in_place.size();
    for (std::size_t objective = 1; objective < objectives_.size(); ++objective) {
        std::vector<SizeScores> scores;
        for (const Contest& one : contests_) {
            scores.push_back(scores_of(one.results[objective], weights[objective], contestants_));
        }
        RowRules rules = row_rules();
        rules.most_pipelines = kMoreOfIntents - (in_place.size() - own);
        const std::vector<Row> rows =
            beyond_chance(choose_rows(scores, rules, {}, in_place), objective);
        for (const Row& row : rows) {
            for (std::size_t i = row.first; i <= row.last; ++i) {
                crown(i, objective, row.copy.pipelines.front(), facts);
            }
        }
        for (const std::size_t one : pipelines_of(rows)) {
            if (!contains(in_place, one)) in_place.push_back(one);
        }
    }
}

SearchSteps::Contest SearchSteps::contest(std::size_t size) {
    label(format_size(size));
    Contest one{std::make_unique<std::mt19937_64>(enter(Step::rows, size)), nullptr, {}};
    const std::vector<Weights> weights = weights_of(objectives_);
    one.race = std::make_unique<Race>(size, weights, *one.random, timed(copies_, size));
    one.results =
        one.race->run_offs(contestants_, plan_.rigor.contest_rounds,
                           std::vector<std::vector<Entrant>>(objectives_.size()), plain_copy());
    return one;
}

/// Makes a contestant the winner of an evaluated size.
void SearchSteps::crown(std::size_t index, std::size_t objective, std::size_t contestant,
                        PipelineFacts& facts) const {
    const bool undecided = contests_[index].results[objective].undecided;
    SizeResult& result = facts.found[index].results[objective];
    result = contests_[index].race->won_by(contestants_[contestant], objective);
    result.undecided = undecided;
}

/// Whether `one` is faster than `other` at an evaluated size beyond chance, by the rounds in which
/// both were timed; or the two were not timed together, so that nothing says that `other` would do.
bool SearchSteps::leads(std::size_t index, const RowCopy& one, const RowCopy& other,
                        std::size_t objective) const {
    const Contest& contest = contests_[index];
    if (!one.senses && !other.senses) {
        const Entrant ours = contestants_[one.pipelines.front()],
                      theirs = contestants_[other.pipelines.front()];
        return contest.race->lead(ours, theirs, objective).low > 1;
    }
    const auto races = sensing_races_.find(index);
    if (races == sensing_races_.end()) return true;
    const SensingRace& race = races->second;
    const auto place_of = [&](const RowCopy& copy) -> std::optional<Entrant> {
        const auto timed = std::find_if(sensing_.begin(), sensing_.end(),
                                        [&](const auto& known) { return known.row.copy == copy; });
        if (copy.senses && timed == sensing_.end()) return std::nullopt;
        const auto place = std::find(race.entrants.begin(), race.entrants.end(),
                                     std::pair(copy, copy.senses ? timed->copy.probe : nullptr));
        if (place == race.entrants.end()) return std::nullopt;
        return static_cast<Entrant>(place - race.entrants.begin());
    };
    const auto ours = place_of(one), theirs = place_of(other);
    return !ours || !theirs || race.race->lead(*ours, *theirs).low > 1;
}

/// `settled`: evaluated sizes whose rows were chosen by more than these rounds.
std::vector<Row> SearchSteps::beyond_chance(std::vector<Row> rows, std::size_t objective,
                                            const std::set<std::size_t>& settled) const {
    return without_chance_rows(
        std::move(rows), [&](std::size_t index, const RowCopy& one, const RowCopy& other) {
            return settled.count(index) > 0 || leads(index, one, other, objective);
        });
}

RowRules SearchSteps::row_rules() const {
    RowRules rules;
    rules.most_rows = plan_.most_rows;
    rules.pipeline_prices = pipeline_prices_;
    return rules;
}

std::vector<TimedRowCopy> SearchSteps::timed_rows() const {
    std::vector<TimedRowCopy> timed;
    for (const TimedSensing& one : sensing_) timed.push_back(one.row);
    return timed;
}

/// Writes the routine's rows into what was found. Where a row senses, the winner of its sizes is
/// the pipeline that does without the time stamp counter: the best of the routine's own there.
void SearchSteps::take_rows(PipelineFacts& facts) {
    const std::vector<std::size_t> pipelines = pipelines_of(rows_);
    for (const Row& row : rows_) {
        std::size_t winner = row.copy.pipelines.front();
        const TimedSensing* sensing = nullptr;
        if (row.copy.senses) {
            const auto worth = [&](std::size_t pipeline) {
                double sum = 0;
                for (std::size_t i = row.first; i <= row.last; ++i) {
                    sum += scores_[i].plain[pipeline];
                }
                return sum;
            };
            winner = *std::max_element(
                pipelines.begin(), pipelines.end(),
                [&](std::size_t a, std::size_t b) { return worth(a) < worth(b); });
            sensing = &*std::find_if(sensing_.begin(), sensing_.end(),
                                     [&](const auto& one) { return one.row.copy == row.copy; });
        }
        for (std::size_t i = row.first; i <= row.last; ++i) {
            crown(i, 0, winner, facts);
            facts.sensing[i].reset();
            if (sensing) {
                facts.sensing[i] = {sensing->copy, sensing->finalists.at(i),
                                    plan_.rigor.contest_rounds};
            }
        }
    }
}

/// The routine's row that an evaluated size lies in.
const Row& SearchSteps::row_at(std::size_t index) const {
    return *std::find_if(rows_.begin(), rows_.end(),
                         [&](const Row& row) { return row.last >= index; });
}

/// What copies the sizes of a row.
TimedCopy SearchSteps::copy_of(const RowCopy& row) const {
    if (!row.senses) return copy(contestants_[row.pipelines.front()]);
    const auto found = std::find_if(sensing_.begin(), sensing_.end(),
                                    [&](const auto& one) { return one.row.copy == row; });
    return found->copy.timed(found->arguments);
}

} // namespace asterope
