// Trials of memcpy under several settings of glibc's tunables, each in a process of its own.
#include "tunables/processes.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace asterope {

Processes::Processes(const std::vector<LibcThresholds>& settings, const RemoteSetup& setup,
                     Progress& progress, DisturbedRounds& rounds)
    : progress_(progress), rounds_(rounds) {
    std::vector<LibcThresholds> all = {{}, {}};
    all.insert(all.end(), settings.begin(), settings.end());
    for (const LibcThresholds& one : all) {
        throw_if_interrupted();
        processes_.push_back(std::make_unique<RemoteCopy>(one, setup));
        progress_.advance(kStartWork);
    }
}

Calibration Processes::calibration(std::size_t size, Workload workload,
                                   const std::optional<Calibration>& known) {
    Calibration& calibration = calibrations_[{size, workload}];
    if (known) calibration = *known;
    if (calibration.calls == 0) calibration = process_of(kLibc).calibrate(size, workload);
    return calibration;
}

Trial Processes::trial(const TrialRequest& asked) {
    const Calibration calls = calibration(asked.size, asked.workload);
    RemoteCopy& process = process_of(asked.entrant);
    const double seconds = process.time(asked.size, asked.workload, asked.round, calls);
    if (!(seconds > 0)) {
        throw Failure("the time stamp counter jumps: nothing can be timed here");
    }
    for (const Disturbance hit : process.disturbances()) {
        if (!contains(hits_, hit)) hits_.push_back(hit);
    }
    round_seconds_ += seconds * static_cast<double>(calls.calls);
    progress_.advance(trial_work(asked.size));
    return {seconds * 1e9};
}

RoundEnd Processes::round_ended() {
    const bool again = rounds_.round_ended(hits_, round_seconds_);
    hits_.clear();
    round_seconds_ = 0;
    return {{}, again};
}

Entrant Processes::copying(Way way, std::size_t size) const {
    for (Entrant one = 0; one < std::ssize(processes_) + kLibcAgain; ++one) {
        if (way_of(thresholds(one), size) == way) return one;
    }
    return kLibc;
}

} // namespace asterope
