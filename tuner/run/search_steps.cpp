// The searches of one run, step by step, on figures from wherever they come: the steps' order, what
// the time budget leaves out, and the pipelines of each size.
#include "run/search_steps.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/size_text.hpp"
#include "search/size_order.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

std::vector<TimedCopy> all_copies(const std::vector<Candidate>& space) {
    std::vector<TimedCopy> copies;
    copies.reserve(space.size());
    for (const Candidate& candidate : space) copies.push_back(timed_copy(candidate));
    return copies;
}

/// What of the time budget the sizes may take, and what all up to the rows and up to the
/// boundaries: the steps behind them are short, and each is worth more than the last size.
constexpr double kShareOfSizes = 0.75, kShareOfRows = 0.9, kShareOfBoundaries = 0.97;

} // namespace

SearchSteps::SearchSteps(const Plan& plan, const Spaces& spaces, const Machine& machine,
                         std::vector<TimedCopy> references, std::uint64_t seed, bool quiet,
                         RunTimings& timings, Budget& budget, TimeSpent& spent)
    : plan_(plan), spaces_(spaces), libc_thresholds_(machine.libc_thresholds),
      last_cache_bytes_(last_cache_bytes(machine)), references_(std::move(references)), seed_(seed),
      objectives_(plan.objectives()), copies_(all_copies(spaces.space)), timings_(timings),
      budget_(budget), spent_(spent), progress_(quiet) {
    calibrate();
    timings_.show_on(progress_);
}

Findings SearchSteps::run(const BuildRoutine& build) {
    Findings findings;
    findings.pipelines.objectives = objectives_;
    findings.pipelines.operation = plan_.operation;
    if (!build) over({Step::exam});
    allow(kShareOfSizes);
    search_sizes(findings);
    over({Step::screening, Step::run_off, Step::overlapping});
    allow(kShareOfRows);
    find_rows(findings);
    over({Step::rows, Step::sensing});
    find_bound(findings);
    over({Step::small});
    allow(kShareOfBoundaries);
    find_boundaries(findings);
    over({Step::boundaries});
    allow(1);
    aliased_copies(findings);
    shared_copies(findings);
    over({Step::aliased, Step::threads});
    examine(findings, build);
    findings.noise = timings_.disturbed_rounds();
    findings.trials = timings_.trials();
    findings.recorded_seconds = timings_.recorded_seconds();
    return findings;
}

std::string SearchSteps::logged(Step step, std::size_t size, const std::string& objective) const {
    return LoggedStep{step, size, objective, plan_.operation}.name();
}

std::mt19937_64 SearchSteps::enter(Step step, std::size_t size, const std::string& objective) {
    const std::string name = logged(step, size, objective);
    timings_.enter(name);
    return named_random(seed_, name);
}

/// So much of what this operation may spend of the budget.
void SearchSteps::allow(double share) {
    budget_.allow(plan_.budget_share * share);
}

void SearchSteps::label(const std::string& text) {
    std::string label =
        plan_.operation == Operation::copy ? "" : std::string(name_of(plan_.operation));
    if (!label.empty() && !text.empty()) label += ' ';
    progress_.label(label + text);
}

/// Another operation than copies is one phase, as it takes little time.
void SearchSteps::account(Step phase) {
    spent_.enter(plan_.operation == Operation::copy ? phase : Step::memset);
}

void SearchSteps::show(Step step) {
    progress_.enter(title_of(step));
    label("");
    account(step);
}

/// Indices into the plan's sizes: the one that small copies hand over to, then coarse to fine.
std::vector<std::size_t> SearchSteps::order_of_sizes() const {
    std::vector<std::size_t> order = coarse_to_fine(plan_.sizes.size());
    const auto handover = std::find_if(order.begin(), order.end(), [&](std::size_t index) {
        return plan_.sizes[index] == plan_.handover_size();
    });
    std::rotate(order.begin(), handover, handover + 1);
    return order;
}

void SearchSteps::search_sizes(Findings& findings) {
    bool budget_left = true;
    for (const std::size_t index : order_of_sizes()) {
        const bool first = found_.empty();
        try {
            if (budget_left) found_.emplace(index, search_one_size(index));
        } catch (const BudgetSpent&) {
            budget_left = false;
            if (first) {
                throw Failure("the time budget ended before the first size was done: give more, "
                              "with --resume to go on");
            }
        }
        const std::size_t size = plan_.sizes[index];
        if (size == plan_.handover_size()) search_what_hands_over(index, findings);
    }
    const bool overlapping = searches_overlapping();
    auto& left_out = findings.left_out;
    if (!findings.small) left_out.steps.insert(Step::small);
    if (!findings.overlapping && overlapping) left_out.steps.insert(Step::overlapping);
    left_out.sizes = plan_.sizes;
    for (const auto& [index, one] : found_) {
        std::erase(left_out.sizes, plan_.sizes[index]);
        findings.pipelines.found.push_back(one);
        findings.pipelines.sensing.emplace_back();
    }
}

/// Logs of an earlier version have no such step, and only copies have buffers that overlap.
bool SearchSteps::searches_overlapping() const {
    return plan_.operation == Operation::copy && timings_.has(logged(Step::overlapping));
}

/// Small copies, which go on to the pipeline of this size, and moves, which are mostly small.
void SearchSteps::search_what_hands_over(std::size_t index, Findings& findings) {
    allow(1); // nothing is copied as often as what is small
    try {
        findings.small =
            small_copies(candidate(found_.at(index).results.front().finalists.front().candidate));
        if (searches_overlapping()) {
            findings.overlapping = overlapping_copies();
        }
    } catch (const BudgetSpent&) { // there is none, then
    }
    allow(kShareOfSizes);
}

Found SearchSteps::search_one_size(std::size_t index) {
    const std::size_t size = plan_.sizes[index];
    label(format_size(size));
    std::mt19937_64 random = enter(Step::pipelines, size);
    Rigor rigor = plan_.rigor;
    const std::vector<Entrant> heirs = inherited(index, rigor);
    if (!heirs.empty()) rigor.coarse = {}; // all of them are screened
    std::vector<Entrant> entrants = heirs.empty() ? spaces_.entrants : heirs;
    std::erase_if(entrants, [&](Entrant entrant) { return !may_take(size, entrant); });
    return search_size(
        spaces_.space, entrants, plan_.extended && heirs.empty() ? &spaces_.extension : nullptr,
        size, weights_of(objectives_), rigor, winners_around(index), random, timed(copies_, size));
}

/// A set that stores past the caches finds its destination uncached the next time because of that:
/// no state of the caches can be what chooses it, so the size does.
bool SearchSteps::may_take(std::size_t size, Entrant entrant) const {
    return plan_.operation != Operation::set || size >= last_cache_bytes_ ||
           copy(entrant).cache_effect != kNonTemporal;
}

/// By objective, the winners of the nearest sizes that are done.
std::vector<std::vector<Entrant>> SearchSteps::winners_around(std::size_t index) const {
    std::vector<std::vector<Entrant>> winners(objectives_.size());
    std::vector<bool> done(plan_.sizes.size(), false);
    for (const auto& [one, unused] : found_) done[one] = true;
    for (const std::size_t neighbour : nearest_done(done, index)) {
        for (std::size_t i = 0; i < winners.size(); ++i) {
            winners[i].push_back(found_.at(neighbour).results[i].finalists.front().candidate);
        }
    }
    return winners;
}

/// The finalists that this size takes over, see Rigor::inherits; none: it is searched itself.
std::vector<Entrant> SearchSteps::inherited(std::size_t index, const Rigor& rigor) const {
    std::set<Entrant> finalists;
    const auto beyond = [&](std::size_t one) {
        return outgrows(plan_.sizes[one], last_cache_bytes_);
    };
    if (!rigor.inherits || !beyond(index)) return {};
    for (const auto& [other, one] : found_) {
        if (!beyond(other)) continue;
        for (const SizeResult& result : one.results) {
            for (const Finalist& finalist : result.finalists) finalists.insert(finalist.candidate);
        }
    }
    return {finalists.begin(), finalists.end()};
}

/// These steps are behind us, whatever of them was planned besides.
void SearchSteps::over(std::initializer_list<Step> steps) {
    for (const Step step : steps) progress_.end(title_of(step));
}

/// Fixes the calls of each trial, and plans all steps up to the exam.
void SearchSteps::calibrate() {
    account(Step::calibration);
    timings_.enter(logged(Step::calibration));
    std::vector<Candidate> paper;
    for (const Entrant entrant : spaces_.entrants) paper.push_back(candidate(entrant));
    for (const std::size_t size : plan_.sizes) {
        calibrate(size);
        const Weights all = weights_at(size, objectives_.front().weights);
        const Weights from_start = screening_weights(all);
        for (const auto& [workload, weight] : all) {
            const Calibration& calibration = calibrations_.at({size, workload});
            const Timed timed = weight == 0                       ? Timed::in_run_off
                                : weight_of(from_start, workload) ? Timed::from_start
                                                                  : Timed::from_last_cut;
            const std::size_t run_off =
                planned_trials(plan_.rigor, paper, Timed::in_run_off, plan_.extended);
            const std::size_t screening =
                planned_trials(plan_.rigor, paper, timed, plan_.extended) - run_off;
            const double trial = static_cast<double>(calibration.calls) * calibration.seconds;
            plan(Step::screening, static_cast<double>(screening) * trial);
            plan(Step::run_off, static_cast<double>(run_off) * trial);
            plan_later_steps(size, workload, trial);
        }
    }
    // See search_small: all five times, 16 of them eight times, and the run-off.
    const std::size_t small = 5 * spaces_.small_entrants.size() + 16 * 8 +
                              2 * (2 * plan_.rigor.finalists + 6) * plan_.rigor.rounds;
    plan(Step::small, kPlannedTrial * static_cast<double>(small * plan_.small_weights.size()));
}

/// What each evaluated size adds to the steps behind the pipelines, about: how many rows and
/// boundaries there will be, nobody knows yet. `trial`: its planned seconds.
void SearchSteps::plan_later_steps(std::size_t size, Workload workload, double trial) {
    const Rigor& rigor = plan_.rigor;
    const auto add = [&](Step step, double entrants, int rounds) {
        plan(step, entrants * rounds * trial);
    };
    add(Step::rows, static_cast<double>(rigor.contestants) + 2, rigor.contest_rounds);
    constexpr double kBesideProbes = 14; // six pipelines, as many sensing copies, libc twice
    if (!spaces_.probes.empty() && size >= kSensingMinimum && !outgrows(size, last_cache_bytes_)) {
        add(Step::sensing, kBesideProbes, rigor.contest_rounds);
    }
    // Three bisections between neighbours, of which a quarter differ; two copies, libc twice.
    add(Step::boundaries, 3.0 / 4 * 4, rigor.rounds);
    if (workload == Workload::hot && size >= kAliasedMinimum && size <= kAliasedMaximum) {
        add(Step::aliased, static_cast<double>(spaces_.aliased_space.size()) + 3, rigor.rounds);
    }
    // The sizes and those between them; the routine, libc twice; some of it again.
    add(Step::exam, 2 * 3 * 1.5, rigor.exam_rounds);
}

void SearchSteps::calibrate(std::size_t size) {
    for (const auto& [workload, weight] : weights_at(size, objectives_.front().weights)) {
        calibrations_[{size, workload}] = timings_.calibration(size, workload);
    }
}

const Candidate& SearchSteps::candidate(Entrant entrant) const {
    return spaces_.space[static_cast<std::size_t>(entrant)];
}

/// The plain copy, or kLibc where it copies wrongly.
Entrant SearchSteps::plain_copy() const {
    return find_plain_copy(spaces_.space, spaces_.entrants);
}

TimedCopies SearchSteps::timed(const std::vector<TimedCopy>& copies, std::size_t size) const {
    return {timings_, copies, libc_at(size, libc_thresholds_, plan_.operation), references_};
}

} // namespace asterope
