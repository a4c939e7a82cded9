// Figures from a whole log, for replaying its search without the machine.
#include "run/logged_trials.hpp"

#include "base/error.hpp"

namespace asterope {

LoggedTrials::LoggedTrials(const TrialLogContents& log, std::string what)
    : recorded_(log.steps, what), what_(std::move(what)) {}

void LoggedTrials::enter(const std::string& step, std::size_t known) {
    recorded_.enter(step, known);
}

template <class Value, class Key> const Value& LoggedTrials::take(const Key& key) {
    const Value* value = recorded_.take<Value>(key);
    if (!value) {
        throw BadInput(what_ + ": ends in the middle of step '" + recorded_.step() +
                       "': finish that run with --resume first");
    }
    return *value;
}

Trial LoggedTrials::trial(const TrialKey& key, const std::function<double(Instruments&)>&) {
    return take<Trial>(key);
}

std::vector<double>
LoggedTrials::readings(const ProbeKey& key,
                       const std::function<std::vector<double>(Instruments&)>&) {
    return take<std::vector<double>>(key);
}

Calibration LoggedTrials::calibration(std::size_t size, Workload workload,
                                      const std::optional<Calibration>& known) {
    return known ? *known : take<Calibration>(std::pair(size, workload));
}

std::vector<Disturbance> LoggedTrials::round_ended() {
    return recorded_.take_hits();
}

} // namespace asterope
