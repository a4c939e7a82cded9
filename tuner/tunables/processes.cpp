// Each entrant is a process; a sample is a request to it.
#include "tunables/processes.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace asterope {

Processes::Processes(const std::vector<LibcThresholds>& settings, const RemoteSetup& setup,
                     RunTimings& timings) {
    std::vector<LibcThresholds> all = {{}, {}};
    all.insert(all.end(), settings.begin(), settings.end());
    timings.progress.label("");
    timings.progress.enter(kStarting);
    for (const LibcThresholds& one : all) {
        throw_if_interrupted();
        processes_.push_back(std::make_unique<RemoteCopy>(one, setup));
        timings.progress.advance(start_seconds(setup));
    }
    timings.go_on_with(*this);
}

Calibration Processes::calibration(std::size_t size, Workload workload,
                                   const std::optional<Calibration>& known) {
    Calibration& calibration = calibrations_[{size, workload}];
    if (known) calibration = *known;
    if (calibration.calls == 0) calibration = process_of(kLibc).calibrate(size, workload);
    return calibration;
}

Sample Processes::sample(const SampleRequest& asked) {
    const Calibration calls = calibration(asked.size, asked.workload);
    RemoteCopy& process = process_of(asked.entrant);
    const double seconds = process.time(asked.size, asked.workload, asked.round, calls);
    if (!(seconds > 0)) {
        throw Failure("the time stamp counter jumps: nothing can be timed here");
    }
    for (const Disturbance hit : process.disturbances()) {
        if (!contains(hits_, hit)) hits_.push_back(hit);
    }
    return {seconds * 1e9, seconds * static_cast<double>(calls.calls) * 1e6};
}

RoundEnd Processes::round_ended() {
    return {std::exchange(hits_, {})};
}

Entrant Processes::copying(Way way, std::size_t size) const {
    for (Entrant one = 0; one < std::ssize(processes_) + kLibcAgain; ++one) {
        if (way_of(thresholds(one), size) == way) return one;
    }
    return kLibc;
}

} // namespace asterope
