// The step of a run that fixes the calls of each sample. These tell how long the other steps take.
#include <algorithm>

#include "run/steps.hpp"
#include "search/aliased_search.hpp"
#include "space/limits.hpp"

namespace asterope {

namespace {

/// Tells the progress line which samples an operation still has to do.
class Planner {
  public:
    Planner(Progress& progress, const Plan& plan, const Spaces& spaces)
        : progress_(progress), plan_(plan), spaces_(spaces) {
        for (const Entrant one : spaces.entrants) {
            paper_.push_back(spaces.space[static_cast<std::size_t>(one)]);
        }
    }

    /// One size under one of the workloads that count there. `senses`: copies with a probe are
    /// tried.
    void add(std::size_t size, Workload workload, const Weights& all,
             const Calibration& calibration, bool senses) {
        const double sample = seconds_of_sample(calibration, workload, size, false);
        const Rigor& rigor = plan_.rigor;
        const Rigor of_size = rigor_at(rigor, size);
        if (weight_of(all, workload) > 0) {
            const bool from_start = weight_of(screening_weights(all), workload) > 0;
            const auto screening = screening_samples(of_size, paper_, from_start, plan_.extended);
            plan(Step::screening, static_cast<double>(screening) * sample);
        }
        const double share = 1.0 / run_off_every(all, workload);
        plan(Step::run_off, share * static_cast<double>(run_off_samples(of_size)) * sample);
        // An estimate: the numbers of rows and boundaries are not known yet.
        const auto races = [&](Step step, double entrants, int rounds) {
            const bool chooses = step == Step::sensing || step == Step::exam;
            plan(step, share * entrants * rounds *
                           seconds_of_sample(calibration, workload, size, chooses));
        };
        races(Step::rows, static_cast<double>(rigor.contestants) + 2, of_size.contest_rounds);
        constexpr double kBesideProbes = 14; // six pipelines, as many sensing copies, libc twice
        if (senses) races(Step::sensing, kBesideProbes, of_size.contest_rounds);
        // Three bisections for a quarter of the neighbours, as so many differ; two copies, libc
        // twice.
        races(Step::boundaries, 3.0 / 4 * 4, rigor.rounds);
        if (workload == Workload::hot && size >= kAliasedMinimum && size <= kAliasedMaximum) {
            races(Step::aliased, static_cast<double>(spaces_.members("aliased").size()) + 3,
                  rigor.rounds);
        }
        // The sizes and those between them; the routine, libc twice; some of it again.
        races(Step::exam, 2 * 3 * 1.5, rigor.exam_rounds);
    }

    /// Plans the steps that belong to no size. See search_small: all five times, 16 of them eight
    /// times, the run-off.
    void add_rest() {
        const Rigor& rigor = plan_.rigor;
        const std::size_t small =
            5 * spaces_.members("small").size() + 16 * 8 + 2 * run_off_samples(rigor);
        plan(Step::small, kPlannedSample * static_cast<double>(small * plan_.small_weights.size()));
        plan(Step::building, kBuilding);
    }

  private:
    void plan(Step step, double seconds) {
        progress_.plan(title_of(step, plan_.operation), seconds);
    }

    Progress& progress_;
    const Plan& plan_;
    const Spaces& spaces_;
    std::vector<Candidate> paper_;
};

} // namespace

void plan_roughly(Progress& progress, const OperationSearch& search) {
    constexpr double kBytesPerSecond = 50e9; // of sets, with and without caches
    Planner planner(progress, search.plan, search.spaces);
    const Weights weights = search.plan.objectives().front().weights;
    for (const std::size_t size : search.plan.sizes) {
        const Weights all = weights_at(size, weights);
        for (const auto& [workload, weight] : all) {
            const double call = static_cast<double>(size) / kBytesPerSecond;
            planner.add(size, workload, all, {1, std::max(sample_seconds(workload), call)}, false);
        }
    }
    planner.add_rest();
}

void calibrate_sizes(OperationRun& run) {
    for (const StepNames& one : kSteps) run.over({one.step}); // the rough plan ends
    run.account(Step::calibration);
    run.timings.enter(run.logged(Step::calibration));
    Planner planner(run.progress, run.plan, run.spaces);
    for (const std::size_t size : run.plan.sizes) {
        const bool senses = !run.spaces.members("probes").empty() && size >= kSensingMinimum;
        const Weights all = weights_at(size, run.weights());
        for (const auto& [workload, weight] : all) {
            planner.add(size, workload, all, run.timings.calibration(size, workload), senses);
        }
    }
    planner.add_rest();
}

} // namespace asterope
