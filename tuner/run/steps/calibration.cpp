// The step of a run that fixes the calls of each trial, by which the others are planned.
#include "run/steps.hpp"
#include "space/limits.hpp"

namespace asterope {

namespace {

void plan(Run& run, Step step, double seconds) {
    run.progress.plan(title_of(step), seconds);
}

/// What each evaluated size adds to the steps behind the pipelines, about: how many rows and
/// boundaries there will be, nobody knows yet. `trial`: its planned seconds.
void plan_later_steps(Run& run, std::size_t size, Workload workload, double trial) {
    const Rigor& rigor = run.plan.rigor;
    const auto add = [&](Step step, double entrants, int rounds) {
        plan(run, step, entrants * rounds * trial);
    };
    add(Step::rows, static_cast<double>(rigor.contestants) + 2, rigor.contest_rounds);
    constexpr double kBesideProbes = 14; // six pipelines, as many sensing copies, libc twice
    if (!run.spaces.probes.empty() && size >= kSensingMinimum && !run.outgrows_caches(size)) {
        add(Step::sensing, kBesideProbes, rigor.contest_rounds);
    }
    // Three bisections between neighbours, of which a quarter differ; two copies, libc twice.
    add(Step::boundaries, 3.0 / 4 * 4, rigor.rounds);
    if (workload == Workload::hot && size >= kAliasedMinimum && size <= kAliasedMaximum) {
        add(Step::aliased, static_cast<double>(run.spaces.aliased_space.size()) + 3, rigor.rounds);
    }
    // The sizes and those between them; the routine, libc twice; some of it again.
    add(Step::exam, 2 * 3 * 1.5, rigor.exam_rounds);
}

} // namespace

void calibrate_sizes(Run& run) {
    const Rigor& rigor = run.plan.rigor;
    const bool extended = run.plan.extended;
    run.account(Step::calibration);
    run.session.enter(run.logged(Step::calibration));
    std::vector<Candidate> paper;
    for (const Entrant entrant : run.spaces.entrants) paper.push_back(run.candidate(entrant));
    for (const std::size_t size : run.plan.sizes) {
        const Weights all = weights_at(size, run.weights());
        const Weights from_start = screening_weights(all);
        for (const auto& [workload, weight] : all) {
            const Calibration calibration = run.session.calibration(size, workload);
            const Timed timed = weight == 0                       ? Timed::in_run_off
                                : weight_of(from_start, workload) ? Timed::from_start
                                                                  : Timed::from_last_cut;
            const std::size_t run_off = planned_trials(rigor, paper, Timed::in_run_off, extended);
            const std::size_t screening = planned_trials(rigor, paper, timed, extended) - run_off;
            const double trial = static_cast<double>(calibration.calls) * calibration.seconds;
            plan(run, Step::screening, static_cast<double>(screening) * trial);
            plan(run, Step::run_off, static_cast<double>(run_off) * trial);
            plan_later_steps(run, size, workload, trial);
        }
    }
    // See search_small: all five times, 16 of them eight times, and the run-off.
    const std::size_t small =
        5 * run.spaces.small_entrants.size() + 16 * 8 +
        2 * static_cast<std::size_t>((2 * rigor.finalists + 6) * rigor.rounds);
    plan(run, Step::small,
         kPlannedTrial * static_cast<double>(small * run.plan.small_weights.size()));
}

} // namespace asterope
