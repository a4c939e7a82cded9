// The last step of a run: the exam of the compiled routine. Losses are timed again before they
// count. Each further exam times only the sizes whose copies have changed.
#include <algorithm>
#include <cmath>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "run/steps.hpp"
#include "search/utility.hpp"

namespace asterope {

namespace {

/// Losses up to this share are not told: builds of one routine differ as much.
constexpr double kLeastLoss = 0.03;

/// The exam's figures at one size.
struct ExamCell {
    double score = 0;
    std::size_t count = 0; ///< workloads
    std::vector<ExamLoss> losses = {};
    std::vector<double> ratios = {}; ///< libc's time over the routine's, of each round
    std::vector<double> own = {};    ///< libc's over libc's, likewise
};

struct Exam {
    std::vector<std::string> copies;       ///< the copy that took each size
    Entrant small = kLibc;                 ///< the small copy
    std::map<std::size_t, ExamCell> cells; ///< by size; 0: mixes of small copies

    ExamFacts facts(int attempt) const {
        ExamFacts facts{0, static_cast<std::size_t>(attempt), {}};
        std::vector<double> ratios, own;
        for (const auto& [size, cell] : cells) {
            facts.cells += cell.count;
            facts.losses.insert(facts.losses.end(), cell.losses.begin(), cell.losses.end());
            ratios.insert(ratios.end(), cell.ratios.begin(), cell.ratios.end());
            own.insert(own.end(), cell.own.begin(), cell.own.end());
        }
        facts.rounds = exam_rounds(ratios, own);
        return facts;
    }
    double score() const {
        double sum = 0;
        for (const auto& [size, cell] : cells) sum += cell.score;
        return sum;
    }
};

/// The evaluated sizes, and the geometric middle between neighbours. Beyond the caches the middles
/// are left out: only the time grows there.
std::vector<std::size_t> sizes_of_exam(const OperationRun& run, const std::vector<Found>& found) {
    std::vector<std::size_t> sizes;
    for (const Found& one : found) {
        const std::size_t size = one.results.front().size;
        if (!sizes.empty()) {
            const double below = static_cast<double>(sizes.back());
            const auto middle =
                static_cast<std::size_t>(std::sqrt(below * static_cast<double>(size)));
            const bool between = middle > sizes.back() && middle < size;
            if (between && !run.outgrows_caches(middle)) sizes.push_back(middle);
        }
        sizes.push_back(size);
    }
    return sizes;
}

/// The workloads that count and under which the routine, the only finalist, lost. A loss must
/// exceed the noise, and the gain that another placement of the code may bring.
std::vector<ExamLoss> losses_of(const SizeResult& result, const Weights& weights) {
    std::vector<ExamLoss> losses;
    const Finalist& routine = result.finalists.front();
    for (const auto& [workload, weight] : weights_at(result.size, weights)) {
        if (weight == 0) continue;
        const Measured& measured = routine.workloads.at(workload);
        const Estimate& ratio = measured.judged_ratio();
        // In mixes, branches that are mispredicted take far longer.
        const double placement = result.size > 0 ? kPlacementNs / measured.ns : 0;
        const double noise =
            std::max({kLeastLoss, placement, 1 - result.noise_floor.at(workload).low});
        if (ratio.high < 1 - noise) losses.push_back({result.size, name_of(workload), ratio});
    }
    return losses;
}

/// The routine, at one size; 0: mixes of small copies.
ExamCell examine_at(OperationRun& run, const TimedCopy& routine, int attempt, std::size_t size) {
    run.progress.label(size ? format_size(size) : "small copies");
    run.enter(Step::exam, size, std::to_string(attempt));
    if (size) run.calibrate(size);
    Weights counted = counting(weights_at(size, size ? run.weights() : run.plan.small_weights));
    // Mixes of small copies find the caches as the sample before left them: with three copies in
    // a round, that is noise.
    const int rounds = (size ? 1 : 6) * run.plan.rigor.exam_rounds;
    const std::vector<TimedCopy> copies = {routine};
    Race first(size, counted, run.timed(copies, size));
    const SizeResult result = first.run_off({0}, rounds, 0);
    ExamCell cell{result.finalists.front().score, counted.size()};
    for (const auto& [workload, weight] : counted) {
        const Weights alone = {{workload, 1}};
        const std::vector<double> ratios = first.libc_over_by_round(0, alone),
                                  own = first.libc_over_by_round(kLibcAgain, alone);
        cell.ratios.insert(cell.ratios.end(), ratios.begin(), ratios.end());
        cell.own.insert(cell.own.end(), own.begin(), own.end());
    }
    // Among hundreds of figures some look bad by chance. Such figures are timed again, at length.
    const std::vector<ExamLoss> suspected = losses_of(result, counted);
    if (suspected.empty()) return cell;
    std::erase_if(counted, [&](const auto& one) {
        return !contains(suspected, name_of(one.first), &ExamLoss::workload);
    });
    Race again(size, counted, run.timed(copies, size));
    cell.losses = losses_of(again.run_off({0}, 3 * rounds, 0), counted);
    return cell;
}

Entrant small_of(const Findings& findings) {
    return findings.small ? findings.small->winner() : kLibc;
}

/// Whether the small copy takes a size, before any row; 0: mixes of sizes.
bool is_small(const OperationRun& run, const Findings& findings, std::size_t size) {
    return size == 0 || (findings.small && size <= bound_of(small_at(run, small_of(findings))));
}

/// The copy of a size, and its cache effect.
std::pair<std::string, int> copying(const OperationRun& run, const Contests& contests,
                                    const Findings& findings, std::size_t size) {
    if (is_small(run, findings, size)) return {small_at(run, small_of(findings)).name, 0};
    if (findings.rows.empty()) return {};
    const std::size_t index = findings.pipelines.result_for(size);
    const TimedCopy copy = contests.copy_of(run, row_at(findings.rows, index).copy, index);
    return {copy.name, copy.cache_effect};
}

/// Examines the routine. Sizes whose copy has not changed since the `last` exam keep their figures.
Exam examine_once(OperationRun& run, const Contests& contests, const Findings& findings,
                  TimedCopy routine, int attempt, const Exam* last) {
    Exam exam;
    const PipelineFacts& pipelines = findings.pipelines;
    const std::vector<std::size_t> sizes = sizes_of_exam(run, pipelines.found);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto [name, cache_effect] = copying(run, contests, findings, sizes[i]);
        routine.cache_effect = cache_effect;
        exam.copies.push_back(name);
        exam.cells[sizes[i]] = last && last->copies[i] == name
                                   ? last->cells.at(sizes[i])
                                   : examine_at(run, routine, attempt, sizes[i]);
    }
    const bool same_small = last && last->small == small_of(findings);
    exam.small = small_of(findings);
    exam.cells[0] = same_small ? last->cells.at(0) : examine_at(run, routine, attempt, 0);
    return exam;
}

/// Takes the next in line instead of a small copy that loses more than it gains, in mixes or at a
/// single size. Returns false where the small copy stays.
bool choose_small_anew(const OperationRun& run, const Exam& exam, Findings& findings) {
    const bool loses = std::ranges::any_of(exam.cells, [&](const auto& one) {
        const auto& [size, cell] = one;
        return is_small(run, findings, size) && !cell.losses.empty() && cell.score < 0;
    });
    if (!findings.small || !loses || findings.small->finalists.size() < 2) return false;
    findings.small->finalists.erase(findings.small->finalists.begin());
    findings.small->lead = {1, 1, 1}; // its lead over the one behind it was not measured
    return true;
}

/// Lets the other of two rows take the sizes between two evaluated ones at which the routine lost.
/// Races of few rounds had found their boundary. Returns false where rows do not meet there.
bool move_boundaries(const OperationRun& run, const Exam& exam, Findings& findings) {
    PipelineFacts& facts = findings.pipelines;
    std::vector<SizeInterval>& intervals = facts.intervals.front();
    const std::vector<SizeInterval> before = intervals;
    for (const auto& [size, cell] : exam.cells) {
        if (is_small(run, findings, size) || cell.losses.empty()) continue;
        const auto holder = std::ranges::lower_bound(intervals, size, {}, &SizeInterval::up_to);
        const std::size_t evaluated = facts.found[holder->result].results.front().size;
        const auto lower = evaluated < size || holder == intervals.begin() ? holder : holder - 1;
        const auto upper = lower + 1;
        if (evaluated == size || upper == intervals.end() ||
            row_at(findings.rows, lower->result) == row_at(findings.rows, upper->result))
            continue;
        lower->up_to = upper->above = std::min(evaluated, size);
    }
    begin_sensing_at_minimum(facts);
    return intervals != before;
}

/// Chooses rows anew where the exam found losses, by its figures. If they stay, moves boundaries.
/// Returns false where these stay, too.
bool choose_anew(const OperationRun& run, const Contests& contests, const Exam& exam,
                 Findings& findings) {
    if (findings.rows.empty()) return false;
    PipelineFacts& facts = findings.pipelines;
    std::vector<TimedRowCopy> timed = contests.timed_rows();
    std::set<std::size_t> settled;
    for (const auto& [size, cell] : exam.cells) {
        // Between the evaluated sizes the worth of others is not known: see move_boundaries.
        if (is_small(run, findings, size) || cell.losses.empty()) continue;
        const std::size_t index = facts.result_for(size);
        if (facts.found[index].results.front().size != size) continue;
        const RowCopy& lost = row_at(findings.rows, index).copy;
        auto known = std::ranges::find(timed, lost, &TimedRowCopy::copy);
        if (known == timed.end()) {
            known = timed.insert(known, {lost, {}});
            for (const SizeScores& one : contests.scores) {
                known->scores.push_back(one.plain[lost.pipelines.front()]);
            }
        }
        known->scores[index] = std::min(known->scores[index], cell.score);
        settled.insert(index);
    }
    std::vector<Row> rows = contests.beyond_chance(
        choose_rows(contests.scores, contests.rules, timed), contests.scores, 0, settled);
    std::vector<SizeInterval>& intervals = facts.intervals.front();
    if (rows == findings.rows || rows.empty()) return move_boundaries(run, exam, findings);
    const std::vector<Row> before = findings.rows;
    contests.take_rows(std::move(rows), findings);
    // Two rows that met before still meet at the same size, others at an evaluated one.
    const auto same = [&](std::size_t i) {
        return row_at(before, i).copy == row_at(findings.rows, i).copy;
    };
    for (std::size_t i = 0; i + 1 < intervals.size(); ++i) {
        if (same(i) && same(i + 1)) continue;
        intervals[i].up_to = intervals[i + 1].above = facts.found[i].results.front().size;
    }
    begin_sensing_at_minimum(facts);
    return true;
}

} // namespace

void examine(OperationRun& run, const Contests& contests, Findings& findings,
             const BuildRoutine& build) {
    std::optional<Exam> last;
    for (int attempt = 1; attempt <= run.plan.rigor.exams; ++attempt) {
        const Findings before = findings;
        // Rows first: a size is the old small copy's loss, where the next one ends before it.
        const bool rows_anew = last && choose_anew(run, contests, *last, findings);
        const bool small_anew = last && choose_small_anew(run, *last, findings);
        if (last && !rows_anew && !small_anew) return;
        TimedCopy routine{.name = "routine " + std::to_string(attempt)};
        routine.operation = run.plan.operation;
        routine.chooses = true;
        if (build) {
            run.show(Step::building);
            routine.function = build(run.plan.operation);
            run.progress.advance(attempt == 1 ? kBuilding : 0);
            if (!routine.function) return;
        }
        run.show(Step::exam);
        Exam exam;
        LeftOut left_out;
        const bool examined = OperationRun::within_budget(left_out, Step::exam, [&] {
            exam = examine_once(run, contests, findings, routine, attempt, last ? &*last : nullptr);
        });
        const ExamFacts facts = exam.facts(attempt);
        const bool better =
            examined && (!last || (exam.score() > last->score() &&
                                   facts.losses.size() <= last->facts(attempt).losses.size()));
        if (!better) { // The next in line is not better, or the time was over.
            if (last) findings = before;
            findings.left_out.steps.merge(left_out.steps); // a resumed run may find more
            return;
        }
        last = std::move(exam);
        findings.exam = facts;
        if (facts.losses.empty()) return;
    }
}

} // namespace asterope
