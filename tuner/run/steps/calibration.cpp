// The step of a run that fixes the calls of each sample. These tell how long the other steps take.
#include <algorithm>

#include "run/steps.hpp"
#include "search/aliased_search.hpp"
#include "space/limits.hpp"

namespace asterope {

namespace {

/// Tells the progress line which samples an operation still has to do. `senses`: copies with a
/// probe are tried. `calibration_of(size, workload)` tells how long a sample takes.
template <class CalibrationOf>
void plan_steps(Progress& progress, const Plan& plan, const Spaces& spaces, const Weights& weights,
                bool senses, const CalibrationOf& calibration_of) {
    const auto add = [&](Step step, double seconds) {
        progress.plan(title_of(step, plan.operation), seconds);
    };
    std::vector<Candidate> paper;
    for (const Entrant one : spaces.entrants) {
        paper.push_back(spaces.space[one.index()]);
    }
    const Rigor& rigor = plan.rigor;
    for (const std::size_t size : plan.sizes) {
        const Rigor of_size = rigor_at(rigor, size);
        const Weights all = weights_at(size, weights);
        for (const auto& weighted : all) { // clang 14 cannot capture a binding
            const Workload workload = weighted.first;
            const Calibration calibration = calibration_of(size, workload);
            const auto races = [&](Step step, double entrants, int rounds) {
                const int every = step == Step::screening ? 1 : run_off_every(all, workload);
                const bool chooses = step == Step::sensing || step == Step::exam;
                add(step, entrants * rounds / every *
                              seconds_of_sample(calibration, workload, size, chooses));
            };
            if (weighted.second > 0) {
                const bool waits = weight_of(screening_weights(all), workload) == 0;
                const auto samples = screening_samples(of_size, paper, waits, plan.extended);
                races(Step::screening, static_cast<double>(samples), 1);
            }
            races(Step::run_off, static_cast<double>(run_off_samples(of_size)), 1);
            // An estimate: the numbers of rows and boundaries are not known yet.
            races(Step::rows, static_cast<double>(rigor.contestants) + 2, of_size.contest_rounds);
            constexpr double kBesideProbes = 14; // six pipelines, six sensing copies, libc twice
            if (senses && size >= kSensingMinimum) {
                races(Step::sensing, kBesideProbes, of_size.contest_rounds);
            }
            // Three bisections for a quarter of the neighbours, as so many differ; two copies, libc
            // twice.
            races(Step::boundaries, 3.0 / 4 * 4, rigor.rounds);
            if (workload == Workload::hot && size >= kAliasedMinimum && size <= kAliasedMaximum) {
                const auto aliased = static_cast<double>(spaces.members("aliased").size());
                races(Step::aliased, aliased + 3, rigor.rounds);
            }
            // The sizes and those between them; the routine, libc twice; some of it again.
            races(Step::exam, 2 * 3 * 1.5, rigor.exam_rounds);
        }
    }
    const std::size_t small = kSmallSamples * spaces.members("small").size() +
                              kSmallKept * kKeptSamples + kSmallRounds * run_off_samples(rigor);
    add(Step::small, kPlannedSample * static_cast<double>(small * plan.small_weights.size()));
    add(Step::building, kBuilding);
}

} // namespace

void plan_roughly(Progress& progress, const OperationSearch& search) {
    constexpr double kBytesPerSecond = 50e9; // of sets, with and without caches
    plan_steps(progress, search.plan, search.spaces, search.plan.objectives().front().weights,
               false, [](std::size_t size, Workload workload) {
                   const double call = static_cast<double>(size) / kBytesPerSecond;
                   return Calibration{1, std::max(sample_seconds(workload), call)};
               });
}

void calibrate_sizes(OperationRun& run) {
    for (const StepNames& one : kSteps) run.over({one.step}); // the rough plan ends
    run.account(Step::calibration);
    run.enter(Step::calibration);
    plan_steps(run.progress, run.plan, run.spaces, run.weights(),
               !run.spaces.members("probes").empty(), [&](std::size_t size, Workload workload) {
                   return run.timings.calibration(size, workload);
               });
}

} // namespace asterope
