// RunTimings: the figures of one run, first those that its log has, then those of the machine,
// which it logs; and the accounts of them.
#include "run/run_timings.hpp"

#include "base/error.hpp"
#include "search/step.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

RunTimings::RunTimings(Timings& machine, TimeSpent& spent, TrialLogWriter& log,
                       const LoggedSteps& known, std::string what)
    : recorded_(known, std::move(what)), machine_(&machine), spent_(spent), log_(&log) {}

RunTimings::RunTimings(const LoggedSteps& known, std::string what, TimeSpent& spent)
    : recorded_(known, std::move(what)), spent_(spent) {}

void RunTimings::enter(const std::string& step, std::size_t known) {
    step_ = step;
    const std::size_t recorded = recorded_.enter(step, known);
    disturbed_rounds_.enter_step();
    round_seconds_ = round_planned_ = 0;
    if (machine_) machine_->enter(step, recorded);
}

/// The races of other steps are short: their two stages are one phase.
void RunTimings::enter(Stage stage) {
    const std::optional<LoggedStep> step = parse_step(step_);
    if (!step || step->step != Step::pipelines) return;
    const Step phase = stage == Stage::screening ? Step::screening : Step::run_off;
    if (progress_) progress_->enter(title_of(phase));
    if (step->operation == Operation::copy) spent_.enter(phase);
}

void RunTimings::refuse_end() const {
    throw BadInput(recorded_.what() + ": ends in the middle of step '" + step_ +
                   "': finish that run with --resume first");
}

TrialLogWriter& RunTimings::log() {
    if (written_step_ != step_) {
        written_step_ = step_;
        log_->step(step_);
    }
    return *log_;
}

Trial RunTimings::trial(const TrialRequest& asked) {
    const TrialKey key{asked.size, asked.workload, asked.copy.name, asked.round};
    const Trial* known = recorded_.take<Trial>(key);
    if (!known && !machine_) refuse_end();
    const Trial trial = known ? *known : machine_->trial(asked);
    if (!known) log().write(key, trial);
    ++trials_;
    const double took = trial.us * 1e-6;
    round_seconds_ += took;
    if (trial.recorded) recorded_seconds_ += took;
    round_recorded_ = trial.recorded;
    if (progress_) {
        round_planned_ += planned_seconds(asked.size, asked.workload);
    }
    return trial;
}

ProbeTicks RunTimings::readings(const ProbeRequest& asked) {
    const ProbeKey key{asked.size, asked.workload, asked.probe.name, asked.copy.name};
    if (const auto* known = recorded_.take<ProbeTicks>(key)) return *known;
    if (!machine_) refuse_end();
    ProbeTicks ticks = machine_->readings(asked);
    log().write(key, ticks);
    return ticks;
}

Calibration RunTimings::calibration(std::size_t size, Workload workload,
                                    const std::optional<Calibration>& taken_over) {
    if (taken_over) return *taken_over;
    Calibration calibration;
    if (const auto* known = recorded_.take<Calibration>(std::pair(size, workload))) {
        calibration = machine_ ? machine_->calibration(size, workload, *known) : *known;
    } else {
        if (!machine_) refuse_end();
        calibration = machine_->calibration(size, workload);
        log().write(size, workload, calibration);
    }
    planned_[{size, workload}] = static_cast<double>(calibration.calls) * calibration.seconds;
    return calibration;
}

RoundEnd RunTimings::round_ended() {
    RoundEnd end;
    if (!recorded_.at_end()) {
        end.disturbances = recorded_.take_hits();
    } else if (machine_) { // a run killed between a round's last trial and its hits has lost these
        end.disturbances = machine_->round_ended().disturbances;
        if (!end.disturbances.empty()) log().write(end.disturbances);
    }
    const double seconds = std::exchange(round_seconds_, 0);
    end.again = disturbed_rounds_.round_ended(end.disturbances, seconds);
    const double planned = std::exchange(round_planned_, 0);
    if (progress_) progress_->advance(end.again ? 0 : planned, round_recorded_);
    return end;
}

double RunTimings::planned_seconds(std::size_t size, Workload workload) const {
    // Aliasing buffers have the hot ones' calls, see Stopwatch.
    const auto known =
        planned_.find({size, workload == Workload::aliased ? Workload::hot : workload});
    return known == planned_.end() ? kPlannedTrial : known->second;
}

} // namespace asterope
