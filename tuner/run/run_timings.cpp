// Two sources of figures, one after the other: the log's records of a step, then the live source.
#include "run/run_timings.hpp"

#include "base/error.hpp"
#include "timing/step.hpp"
#include "timing/stopwatch.hpp"

namespace asterope {

std::size_t LoggedTimings::left() const {
    return records_ && at_ < records_->size() ? records_->size() - at_ : 0;
}

void LoggedTimings::enter(const LoggedStep& step, std::size_t known) {
    const auto found = steps_->find(step);
    records_ = found == steps_->end() ? nullptr : &found->second;
    step_ = step;
    at_ = known;
}

template <class Value, class Key> const Value& LoggedTimings::take(const Key& key) {
    if (left() == 0) {
        throw BadInput(what_ + ": ends in the middle of step '" + (step_ ? step_->name() : "") +
                       "': finish that run with --resume first");
    }
    const auto* pair = std::get_if<std::pair<Key, Value>>(&(*records_)[at_]);
    if (!pair || !(pair->first == key)) {
        throw BadInput(
            what_ + ": entry " + std::to_string(at_ + 1) + " of step '" + step_->name() +
            "' is not what this search asks for: another version's search had other rules, "
            "so record anew");
    }
    ++at_;
    return pair->second;
}

namespace {

const LoggedSteps kNothing;

SampleKey key_of(const SampleRequest& asked) {
    return {asked.size, asked.workload, asked.copy.name, asked.round};
}

ProbeKey key_of(const ProbeRequest& asked) {
    return {asked.size, asked.workload, asked.probe.name, asked.copy.name};
}

} // namespace

Sample LoggedTimings::sample(const SampleRequest& asked) {
    return take<Sample>(key_of(asked));
}

ProbeTicks LoggedTimings::readings(const ProbeRequest& asked) {
    return take<ProbeTicks>(key_of(asked));
}

Calibration LoggedTimings::calibration(std::size_t size, Workload workload,
                                       const std::optional<Calibration>& known) {
    return known ? *known : take<Calibration>(std::pair(size, workload));
}

/// Most rounds were not disturbed, and left no record.
RoundEnd LoggedTimings::round_ended() {
    if (left() == 0) return {};
    const auto* hits = std::get_if<std::vector<Disturbance>>(&(*records_)[at_]);
    if (!hits) return {};
    ++at_;
    return {*hits};
}

RunTimings::RunTimings(bool quiet, std::optional<double> seconds)
    : progress(quiet), budget(seconds), recorded_(kNothing, "") {}

void RunTimings::keep(RunLog& log) {
    log_ = &log;
    recorded_ = LoggedTimings(log.known, log.what);
}

void RunTimings::enter(const LoggedStep& step, std::size_t known) {
    step_ = step;
    recorded_.enter(step, known);
    disturbed_rounds_.enter_step();
    round_seconds_ = round_planned_ = 0;
    source_->enter(step, recorded_.left());
}

/// The races of other steps are short: their two stages are one phase.
void RunTimings::enter(Stage stage) {
    if (!step_ || step_->step != Step::pipelines) return;
    const Step phase = stage == Stage::screening ? Step::screening : Step::run_off;
    progress.enter(title_of(phase, step_->operation));
    if (step_->operation == Operation::copy) spent.enter(phase);
}

void RunTimings::write(const Record& figure) {
    if (!log_) return;
    if (written_step_ != step_) {
        written_step_ = step_;
        log_->writer.step(*step_);
    }
    log_->writer.write(figure);
}

/// Where the budget ends, the log ends, too. Later choices rest on fewer findings. A resumed run
/// has more of them, and would ask for other figures.
template <class Ask> auto RunTimings::unless_spent(Ask ask) try {
    return ask();
} catch (const BudgetSpent&) {
    log_ = nullptr;
    throw;
}

Sample RunTimings::sample(const SampleRequest& asked) {
    const bool known = recorded_.left() > 0;
    const Sample sample =
        known ? recorded_.sample(asked) : unless_spent([&] { return source_->sample(asked); });
    if (!known) write(std::pair(key_of(asked), sample));
    ++samples_;
    const double took = sample.us * 1e-6;
    round_seconds_ += took;
    if (sample.recorded) recorded_seconds_ += took;
    round_recorded_ = sample.recorded;
    round_planned_ += planned_seconds(asked.size, asked.workload, asked.copy.chooses);
    return sample;
}

ProbeTicks RunTimings::readings(const ProbeRequest& asked) {
    if (recorded_.left() > 0) return recorded_.readings(asked);
    ProbeTicks ticks = unless_spent([&] { return source_->readings(asked); });
    write(std::pair(key_of(asked), ticks));
    return ticks;
}

Calibration RunTimings::calibration(std::size_t size, Workload workload,
                                    const std::optional<Calibration>& taken_over) {
    if (taken_over) return *taken_over;
    std::optional<Calibration> known;
    if (recorded_.left() > 0) known = recorded_.calibration(size, workload);
    const Calibration calibration =
        unless_spent([&] { return source_->calibration(size, workload, known); });
    if (!known) write(Calibrated{{size, workload}, calibration});
    planned_[{size, workload}] = calibration;
    return calibration;
}

RoundEnd RunTimings::round_ended() {
    RoundEnd end;
    if (recorded_.left() > 0) {
        end = recorded_.round_ended();
    } else { // a run killed between a round's last sample and its hits has lost these
        end = source_->round_ended();
        if (!end.disturbances.empty()) write(end.disturbances);
    }
    const double seconds = std::exchange(round_seconds_, 0);
    end.again = end.watched && disturbed_rounds_.round_ended(end.disturbances, seconds);
    const double planned = std::exchange(round_planned_, 0);
    progress.advance(end.again ? 0 : planned, round_recorded_);
    return end;
}

double RunTimings::planned_seconds(std::size_t size, Workload workload, bool chooses) const {
    // Aliasing buffers have the hot ones' calls, see Stopwatch.
    const auto known =
        planned_.find({size, workload == Workload::aliased ? Workload::hot : workload});
    if (known == planned_.end()) return kPlannedSample;
    return seconds_of_sample(known->second, workload, size, chooses);
}

} // namespace asterope
