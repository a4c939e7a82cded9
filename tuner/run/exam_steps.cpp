// The last step of a run: the compiled routine beside libc, on fresh samples, at the evaluated
// sizes and between them. Rows that lose are chosen anew, and what still loses is told.
#include <algorithm>
#include <cmath>

#include "base/contains.hpp"
#include "base/size_text.hpp"
#include "run/search_steps.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

/// Losses up to this share are not told: builds of one routine differ as much.
constexpr double kLeastLoss = 0.03;

/// The evaluated sizes, and the geometric middle between neighbours; of sizes beyond the caches,
/// where nothing changes but the time it takes, the former alone.
std::vector<std::size_t> sizes_of_exam(const std::vector<Found>& found,
                                       std::size_t last_cache_bytes) {
    std::vector<std::size_t> sizes;
    for (const Found& one : found) {
        const std::size_t size = one.results.front().size;
        if (!sizes.empty()) {
            const double below = static_cast<double>(sizes.back());
            const auto middle =
                static_cast<std::size_t>(std::sqrt(below * static_cast<double>(size)));
            const bool between = middle > sizes.back() && middle < size;
            if (between && !outgrows(middle, last_cache_bytes)) sizes.push_back(middle);
        }
        sizes.push_back(size);
    }
    return sizes;
}

/// Under which workloads that count the routine, the only finalist, lost beyond the noise.
std::vector<ExamLoss> losses_of(const SizeResult& result, const Weights& weights) {
    std::vector<ExamLoss> losses;
    const Finalist& routine = result.finalists.front();
    for (const auto& [workload, weight] : weights_at(result.size, weights)) {
        if (weight == 0) continue;
        const Estimate& ratio = routine.workloads.at(workload).judged_ratio();
        const double noise = std::max(kLeastLoss, 1 - result.noise_floor.at(workload).low);
        if (ratio.high < 1 - noise)
            losses.push_back({result.size, std::string(name_of(workload)), ratio});
    }
    return losses;
}

} // namespace

void SearchSteps::examine(Findings& findings, const BuildRoutine& build) {
    const std::size_t first = findings.pipelines.found.front().results.front().size;
    // It was not examined, in the log that is replayed.
    if (!timings_.has(logged(Step::exam, first, "1"))) return;
    std::optional<Exam> last;
    for (int attempt = 1; attempt <= plan_.rigor.exams; ++attempt) {
        const Findings before = findings;
        const std::vector<Row> rows = rows_;
        if (last && !choose_anew(findings, *last)) return;
        TimedCopy routine{.name = "routine " + std::to_string(attempt)};
        routine.operation = plan_.operation;
        if (build) {
            show(Step::building);
            routine.function = build(findings);
            if (!routine.function) return;
        }
        show(Step::exam);
        try {
            Exam exam = examine_once(findings.pipelines, routine, attempt, last ? &*last : nullptr);
            const bool better =
                !last || (exam.score() > last->score() &&
                          exam.facts().losses.size() <= last->facts().losses.size());
            if (!better) { // the next in line is no better
                findings = before;
                rows_ = rows;
                return;
            }
            last = std::move(exam);
        } catch (const BudgetSpent&) {
            if (last) {
                findings = before;
                rows_ = rows;
            } else {
                findings.left_out.steps.insert(Step::exam);
            }
            return;
        }
        findings.exam = last->facts();
        findings.exam->exams = static_cast<std::size_t>(attempt);
        if (findings.exam->losses.empty()) return;
    }
}

/// What copies each of these sizes, by name.
std::vector<std::string> SearchSteps::copies_at(const PipelineFacts& pipelines,
                                                const std::vector<std::size_t>& sizes) const {
    std::vector<std::string> names;
    for (const std::size_t size : sizes) {
        names.push_back(rows_.empty() ? "" : copy_of(row_at(pipelines.result_for(size)).copy).name);
    }
    return names;
}

/// Examines the routine. Where it copies as the one of the `last` exam did, that stands.
SearchSteps::Exam SearchSteps::examine_once(const PipelineFacts& pipelines,
                                            const TimedCopy& routine, int attempt,
                                            const Exam* last) {
    Exam exam;
    std::vector<TimedCopy> copies = {routine};
    const auto take = [&](std::size_t size, const Weights& weights) {
        if (size && !rows_.empty()) {
            copies[0].cache_effect = copy_of(row_at(pipelines.result_for(size)).copy).cache_effect;
        }
        label(size ? format_size(size) : "small copies");
        std::mt19937_64 random = enter(Step::exam, size, std::to_string(attempt));
        if (size) calibrate(size);
        Weights counting = weights_at(size, weights);
        std::erase_if(counting, [](const auto& one) { return one.second == 0; });
        // Mixes of small copies find the caches as the trial before left them: with three copies in
        // a round, that is noise.
        const int rounds = (size ? 1 : 6) * plan_.rigor.exam_rounds;
        const SizeResult result =
            Race(size, counting, random, timed(copies, size)).run_off({0}, rounds, 0);
        const Finalist& routine_found = result.finalists.front();
        ExamCell& cell = exam.cells[size];
        cell.score = routine_found.score;
        cell.count = counting.size();
        // Of hundreds of figures some look bad by chance: what does is timed again, at length.
        const std::vector<ExamLoss> suspected = losses_of(result, counting);
        if (suspected.empty()) return;
        std::erase_if(counting, [&](const auto& one) {
            return std::none_of(suspected.begin(), suspected.end(), [&](const ExamLoss& loss) {
                return loss.workload == name_of(one.first);
            });
        });
        cell.losses =
            losses_of(Race(size, counting, random, timed(copies, size)).run_off({0}, 3 * rounds, 0),
                      counting);
    };
    const std::vector<std::size_t> sizes = sizes_of_exam(pipelines.found, last_cache_bytes_);
    exam.copies = copies_at(pipelines, sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (last && last->copies[i] == exam.copies[i]) {
            exam.cells[sizes[i]] = last->cells.at(sizes[i]);
        } else {
            take(sizes[i], objectives_.front().weights);
        }
    }
    if (last) {
        exam.cells[0] = last->cells.at(0);
    } else {
        take(0, plan_.small_weights);
    }
    return exam;
}

ExamFacts SearchSteps::Exam::facts() const {
    ExamFacts facts;
    for (const auto& [size, cell] : cells) {
        facts.cells += cell.count;
        facts.losses.insert(facts.losses.end(), cell.losses.begin(), cell.losses.end());
    }
    return facts;
}

double SearchSteps::Exam::score() const {
    double sum = 0;
    for (const auto& [size, cell] : cells) sum += cell.score;
    return sum;
}

/// Chooses rows anew by what the exam found where it lost. False where they stay the same.
bool SearchSteps::choose_anew(Findings& findings, const Exam& exam) {
    if (rows_.empty()) return false;
    PipelineFacts& facts = findings.pipelines;
    std::vector<TimedRowCopy> timed = timed_rows();
    std::set<std::size_t> settled;
    for (const auto& [size, cell] : exam.cells) {
        // Between the evaluated sizes it is not known what others are worth.
        if (size == 0 || cell.losses.empty()) continue;
        const std::size_t index = facts.result_for(size);
        if (facts.found[index].results.front().size != size) continue;
        const RowCopy& lost = row_at(index).copy;
        auto known = std::find_if(timed.begin(), timed.end(),
                                  [&](const TimedRowCopy& one) { return one.copy == lost; });
        if (known == timed.end()) {
            known = timed.insert(known, {lost, {}});
            for (const SizeScores& one : scores_) {
                known->scores.push_back(one.plain[lost.pipelines.front()]);
            }
        }
        known->scores[index] = std::min(known->scores[index], cell.score);
        settled.insert(index);
    }
    const std::vector<Row> before = rows_,
                           rows =
                               beyond_chance(choose_rows(scores_, row_rules(), timed), 0, settled);
    if (rows == before || rows.empty()) return false;
    std::vector<RowCopy> copies_before;
    for (std::size_t i = 0; i < facts.found.size(); ++i) copies_before.push_back(row_at(i).copy);
    rows_ = rows;
    take_rows(facts);
    // Where the same two still meet, they do at the same size; others at an evaluated one.
    std::vector<SizeInterval>& intervals = facts.intervals.front();
    for (std::size_t i = 0; i + 1 < intervals.size(); ++i) {
        if (copies_before[i] == row_at(i).copy && copies_before[i + 1] == row_at(i + 1).copy) {
            continue;
        }
        intervals[i].up_to = intervals[i + 1].above = facts.found[i].results.front().size;
    }
    begin_sensing_at_minimum(facts);
    return true;
}

} // namespace asterope
